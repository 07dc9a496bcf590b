#include "scenario.hpp"

#include <utility>
#include <vector>

#include "lab/lab_tab.hpp"

namespace tabacus::lab {
namespace {

/// The actions of faults and of their ends. Their numbers follow those of Source::Kind, so that
/// keys of both differ.
enum class ScenarioAction : std::uint8_t {
    kill = 32,  // its peer is: writes kept · 2 + commits kept
    freeze,
    throttle,
    bfcache,
    close_connection,
    lose_database,
    quota,
    clear_storage,
    corrupt,  // its peer is number_of_record()
    thaw,
    show,
    page_show,
    quota_lifted,
    browser_crash,  // its peer is: writes kept · 2 + commits kept
    suspend,
    orphaned_lock,
    clock_jump,  // its peer is 1 if it jumps forward, 0 if back
    wake,
    dead_connection,
    hang_transaction,
    answer,
};

/// Whether an action is the end of a fault.
bool ends_fault(ScenarioAction action) {
    return (action >= ScenarioAction::thaw && action < ScenarioAction::browser_crash) ||
           action == ScenarioAction::wake || action == ScenarioAction::answer;
}

std::uint64_t key_of_action(ScenarioAction action, TabId tab, std::uint64_t peer = 0) {
    return key_of({static_cast<Source::Kind>(action), tab, peer});
}

Fault fault_of(ScenarioAction action) {
    switch (action) {
        case ScenarioAction::kill:
            return Fault::kill;
        case ScenarioAction::freeze:
            return Fault::freeze;
        case ScenarioAction::throttle:
            return Fault::throttle;
        case ScenarioAction::bfcache:
            return Fault::bfcache;
        case ScenarioAction::close_connection:
            return Fault::close_connection;
        case ScenarioAction::lose_database:
            return Fault::lose_database;
        case ScenarioAction::quota:
            return Fault::quota;
        case ScenarioAction::clear_storage:
            return Fault::clear_storage;
        case ScenarioAction::browser_crash:
            return Fault::browser_crash;
        case ScenarioAction::suspend:
            return Fault::suspend;
        case ScenarioAction::orphaned_lock:
            return Fault::orphaned_lock;
        case ScenarioAction::clock_jump:
            return Fault::clock_jump;
        case ScenarioAction::dead_connection:
            return Fault::dead_connection;
        case ScenarioAction::hang_transaction:
            return Fault::hang_transaction;
        default:
            return Fault::corrupt;
    }
}

Source source_of(std::uint64_t key) {
    return {static_cast<Source::Kind>(key >> 56U), static_cast<TabId>(key >> 44U & 0xfffU),
            key & ((std::uint64_t{1} << 44U) - 1)};
}

/// How far the wall clock jumps.
constexpr double day_ms = 86'400'000;

/// Commits that are pending when a connection or the database is lost do not happen. The case that
/// they do is another schedule, in which they were faster.
constexpr bool commits_happen = false;

/// Returns a hash of a record's name, of 44 bits.
std::uint64_t number_of_record(std::size_t area, std::string_view key) {
    return object_id(Object::item, key, area) & ((std::uint64_t{1} << 44U) - 1);
}

/// Calls `use(area, key)` for each record. Area 0 is localStorage, the next ones are the stores.
template <typename Use>
void for_each_record(Origin& origin, Use use) {
    for (const auto& [key, value] : origin.storage().values()) use(std::size_t{0}, key);
    for (std::size_t store = 0; store < store_count; ++store) {
        for (const auto& [key, value] : origin.database().rows(static_cast<Store>(store))) {
            use(store + 1, key);
        }
    }
}

Origin::Options options_of(const Scenario& scenario) {
    auto options = scenario.origin;
    options.connections_die = scenario.faults.contains(Fault::dead_connection) ||
                              scenario.faults.contains(Fault::hang_transaction);
    return options;
}

/// A run over a simulated origin. The order of choices is: the tab that went last, the other tabs
/// in turn, faults that end, the clock, faults.
class OriginRun final : public Run {
  public:
    OriginRun(const Scenario& scenario, Tracing tracing)
        : scenario_(scenario), workload_(scenario.workload()), origin_(options_of(scenario)) {
        if (tracing == Tracing::on) origin_.recorder().trace_into(&lines_);
        if (workload_->state()) origin_.recorder().record_observations();
        workload_->begin(origin_);
        // What was observed here is the same in every run, and belongs to no step.
        (void)origin_.recorder().take_observed();
        first_step_ = origin_.steps();
        tabs_ = static_cast<TabId>(origin_.tab_count());
        states_.resize(tabs_ + 1);
        begun_.resize(tabs_ + 1);
        lines_.clear();
    }

    const std::vector<Choice>& choices() override;
    Taken take(std::size_t index, Footprint* footprint) override;
    [[nodiscard]] std::optional<std::uint64_t> state() const override;
    void finish() override { failure_ = workload_->at_rest(origin_); }
    [[nodiscard]] bool rewinds() const override { return scenario_.rewinds; }
    void end() override {
        if (scenario_.fault_counts == nullptr) return;
        for (std::size_t i = 0; i < fault_count; ++i)
            scenario_.fault_counts->at(i) += fault_counts_.at(i);
    }
    [[nodiscard]] const std::string& failure() const override { return failure_; }
    std::vector<TraceLine> lines() override { return std::exchange(lines_, {}); }

  private:
    /// The faults of a tab that can end.
    struct State {
        bool frozen = false;
        bool hidden = false;
        bool cached = false;
        bool suspended = false;
    };

    void sort_by_tab(const std::vector<Source>& sources);
    void add_of(TabId tab, const std::vector<Source>& sources);
    void add_ends();
    void add_faults();
    void add_faults_of(TabId tab);
    void add_shared_faults();
    /// Returns the tab that has the turn after a step. Steps of the browser and faults do not take
    /// the turn.
    [[nodiscard]] TabId turn_after(TabId tab) const { return tab != 0 ? tab : last_; }
    void add(std::uint64_t process, TabId tab, bool reorders = false) {
        choices_.push_back({.process = process,
                            .preempts = stays_,
                            .reorders = reorders,
                            .turn = turn_after(tab)});
    }
    void add_fault(ScenarioAction action, TabId tab, std::uint64_t peer = 0) {
        choices_.push_back(
            {.process = key_of_action(action, tab, peer), .fault = true, .turn = last_});
    }
    [[nodiscard]] bool offers(Fault fault) const { return scenario_.faults.contains(fault); }
    void mark_twins();
    void apply(const Source& what);
    void apply_to(LabTab& tab, ScenarioAction action, std::uint64_t peer);
    void apply_to_all(ScenarioAction action, std::uint64_t peer);
    void corrupt(std::uint64_t number);

    const Scenario& scenario_;
    std::unique_ptr<Workload> workload_;
    std::vector<TraceLine> lines_;  // before the origin, because its destructor adds lines
    Origin origin_;
    TabId tabs_ = 0;
    std::uint64_t first_step_ = 0;
    std::vector<State> states_;
    std::vector<bool> begun_;  // by tab: whether it has taken a step
    bool quota_ = false;
    bool database_lost_ = false;
    std::uint32_t faults_ = 0;
    FaultCounts fault_counts_{};
    TabId last_ = 1;
    bool stays_ = false;
    std::vector<Choice> choices_;
    static constexpr std::uint32_t none = UINT32_MAX;
    std::vector<std::uint32_t> first_of_;  // by tab: the index of its first source
    std::vector<std::uint32_t> next_of_;   // by source: the index of the next one of the same tab
    std::string failure_;
};

void OriginRun::add_of(TabId tab, const std::vector<Source>& sources) {
    bool first = true;
    for (auto at = first_of_[tab]; at != none; at = next_of_[at]) {
        choices_.push_back({.process = key_of(sources[at]),
                            .preempts = stays_ || !first,
                            .reorders = !first,
                            .turn = turn_after(tab)});
        first = false;
    }
    if (tab == last_ && !first) stays_ = true;
}

/// Makes a linked list of sources for each tab, in the order of the sources.
void OriginRun::sort_by_tab(const std::vector<Source>& sources) {
    first_of_.assign(states_.size(), none);
    next_of_.resize(sources.size());
    for (auto at = static_cast<std::uint32_t>(sources.size()); at-- > 0;) {
        if (sources[at].kind == Source::Kind::clock) continue;
        next_of_[at] = std::exchange(first_of_.at(sources[at].tab), at);
    }
}

const std::vector<Choice>& OriginRun::choices() {
    choices_.clear();
    stays_ = false;
    const auto& sources = origin_.choices();
    sort_by_tab(sources);
    add_of(last_, sources);
    for (TabId i = 1; i < tabs_; ++i) add_of((last_ - 1 + i) % tabs_ + 1, sources);
    if (last_ != 0) add_of(0, sources);
    stays_ = !choices_.empty();
    add_ends();
    stays_ = !choices_.empty();
    if (!sources.empty() && sources.back().kind == Source::Kind::clock) {
        add(key_of(sources.back()), 0, stays_);
    }
    // Faults do not count as preemptions, because they have a bound of their own.
    if (faults_ < scenario_.faults_max) add_faults();
    if (scenario_.alike) mark_twins();
    return choices_;
}

void OriginRun::mark_twins() {
    TabId first = 1;
    while (first <= tabs_ && begun_[first]) ++first;
    for (auto& choice : choices_) {
        const auto tab = source_of(choice.process).tab;
        choice.twin = tab > first && !begun_[tab];
    }
}

/// Adds the ends of faults. Every fault that can end does so at some time, so that all living tabs
/// run when the run ends.
void OriginRun::add_ends() {
    for (TabId id = 1; id <= tabs_; ++id) {
        const auto& state = states_[id];
        if (!origin_.tab(id).alive()) continue;
        if (state.frozen) add(key_of_action(ScenarioAction::thaw, id), id);
        if (state.hidden) add(key_of_action(ScenarioAction::show, id), id);
        if (state.suspended) add(key_of_action(ScenarioAction::wake, id), id);
        if (state.cached) add(key_of_action(ScenarioAction::page_show, id), id);
        // The browser answers, so the tab does not get the turn.
        if (origin_.gave_up(origin_.tab(id))) add(key_of_action(ScenarioAction::answer, id), 0);
    }
    if (quota_) add(key_of_action(ScenarioAction::quota_lifted, 0), 0);
}

void OriginRun::add_faults() {
    for (TabId id = 1; id <= tabs_; ++id) add_faults_of(id);
    add_shared_faults();
}

void OriginRun::add_faults_of(TabId id) {
    const auto& tab = origin_.tab(id);
    if (!tab.alive()) return;
    if (offers(Fault::kill)) {
        const bool commits = origin_.commits_under_way(tab);
        const auto writes = origin_.writes_under_way(tab);
        for (std::size_t kept = 0; kept <= writes; ++kept) {
            add_fault(ScenarioAction::kill, id, kept * 2);
            if (commits) add_fault(ScenarioAction::kill, id, kept * 2 + 1);
        }
    }
    if (tab.active() && offers(Fault::freeze)) add_fault(ScenarioAction::freeze, id);
    if (tab.active() && !states_[id].hidden && offers(Fault::throttle)) {
        add_fault(ScenarioAction::throttle, id);
    }
    if (tab.active() && offers(Fault::bfcache)) add_fault(ScenarioAction::bfcache, id);
    if (tab.active() && offers(Fault::suspend)) add_fault(ScenarioAction::suspend, id);
    if (offers(Fault::orphaned_lock)) add_fault(ScenarioAction::orphaned_lock, id);
    if (offers(Fault::close_connection) && origin_.connected(tab)) {
        add_fault(ScenarioAction::close_connection, id);
    }
    if (offers(Fault::dead_connection) && origin_.connected(tab)) {
        add_fault(ScenarioAction::dead_connection, id);
    }
    if (offers(Fault::hang_transaction) && origin_.connected(tab) && !origin_.hung(tab)) {
        add_fault(ScenarioAction::hang_transaction, id);
    }
}

void OriginRun::add_shared_faults() {
    const bool lost = database_lost_ && scenario_.lost_once;
    if (offers(Fault::lose_database) && !lost) add_fault(ScenarioAction::lose_database, 0);
    if (offers(Fault::quota) && !quota_) add_fault(ScenarioAction::quota, 0);
    if (offers(Fault::clear_storage)) add_fault(ScenarioAction::clear_storage, 0);
    if (offers(Fault::browser_crash) && origin_.anybody_alive()) {
        for (std::uint64_t kept = 0; kept < 4; ++kept) {
            add_fault(ScenarioAction::browser_crash, 0, kept);
        }
    }
    if (offers(Fault::clock_jump)) {
        for (const std::uint64_t forward : {0U, 1U}) {
            add_fault(ScenarioAction::clock_jump, 0, forward);
        }
    }
    if (!offers(Fault::corrupt)) return;
    for_each_record(origin_, [this](std::size_t area, const std::string& key) {
        add_fault(ScenarioAction::corrupt, 0, number_of_record(area, key));
    });
}

Run::Taken OriginRun::take(std::size_t index, Footprint* footprint) {
    const auto choice = choices_.at(index);
    const auto source = source_of(choice.process);
    begun_[source.tab] = true;
    const auto recording = origin_.recorder().recording_in(footprint);
    Taken taken;
    if (static_cast<std::uint8_t>(source.kind) < static_cast<std::uint8_t>(ScenarioAction::kill)) {
        const auto cause = origin_.take(source);
        taken.cause = cause > first_step_ ? static_cast<std::uint32_t>(cause - first_step_) : 0;
    } else {
        origin_.begin_step();
        apply(source);
    }
    last_ = static_cast<TabId>(choice.turn_after());
    failure_ = workload_->after_step();
    return taken;
}

std::optional<std::uint64_t> OriginRun::state() const {
    const auto known = workload_->state();
    if (!known) return std::nullopt;
    return *known + origin_.digest(offers(Fault::browser_crash)) +
           digest(faults_, database_lost_ ? 1U : 0U);
}

void OriginRun::apply(const Source& what) {
    const auto action = static_cast<ScenarioAction>(what.kind);
    auto& recorder = origin_.recorder();
    recorder.note(Object::faults, 0, AccessKind::write);
    if (!ends_fault(action)) {
        ++faults_;
        ++fault_counts_.at(static_cast<std::size_t>(fault_of(action)));
    }
    if (what.tab == 0) {
        apply_to_all(action, what.peer);
    } else {
        apply_to(origin_.tab(what.tab), action, what.peer);
    }
}

void OriginRun::apply_to(LabTab& tab, ScenarioAction action, std::uint64_t peer) {
    auto& state = states_[tab.id()];
    switch (action) {
        case ScenarioAction::kill:
            return origin_.kill(tab, static_cast<std::size_t>(peer / 2), peer % 2 != 0);
        case ScenarioAction::freeze:
            state.frozen = true;
            return origin_.freeze(tab);
        case ScenarioAction::throttle:
            state.hidden = true;
            return origin_.hide(tab);
        case ScenarioAction::bfcache:
            state.cached = origin_.page_hide(tab);
            return;
        case ScenarioAction::suspend:
            state.suspended = true;
            return origin_.suspend(tab);
        case ScenarioAction::wake:
            state.suspended = false;
            return origin_.wake(tab);
        case ScenarioAction::orphaned_lock:
            return origin_.orphan_locks(tab);
        case ScenarioAction::close_connection:
            return origin_.close_connection(tab, commits_happen);
        case ScenarioAction::dead_connection:
            return origin_.kill_connection(tab);
        case ScenarioAction::hang_transaction:
            return origin_.hang(tab);
        case ScenarioAction::answer:
            return origin_.answer_again(tab);
        case ScenarioAction::thaw:
            state.frozen = false;
            return origin_.thaw(tab);
        case ScenarioAction::show:
            state.hidden = false;
            return origin_.show(tab);
        case ScenarioAction::page_show:
            state.cached = false;
            return origin_.page_show(tab);
        default:
            return;
    }
}

void OriginRun::apply_to_all(ScenarioAction action, std::uint64_t peer) {
    const auto trace = [&](const char* text) {
        origin_.recorder().trace(0, Object::faults, [&] { return std::string(text); });
    };
    switch (action) {
        case ScenarioAction::lose_database:
            database_lost_ = true;
            return origin_.lose_database(commits_happen);
        case ScenarioAction::quota:
            quota_ = true;
            trace("the quota is used up");
            origin_.database().set_quota(0);
            return origin_.storage().set_quota(0);
        case ScenarioAction::clear_storage:
            trace("the site's data is cleared");
            return origin_.clear_site_data(commits_happen);
        case ScenarioAction::corrupt:
            return corrupt(peer);
        case ScenarioAction::browser_crash:
            return origin_.crash({.commits = peer % 2 != 0, .writes = peer / 2 != 0});
        case ScenarioAction::clock_jump:
            return origin_.jump_wall_clock(peer == 1 ? day_ms : -day_ms);
        case ScenarioAction::quota_lifted:
            quota_ = false;
            trace("the quota is lifted");
            origin_.database().set_quota(std::nullopt);
            return origin_.storage().set_quota(std::nullopt);
        default:
            return;
    }
}

/// Replaces a record by a text that is neither a number nor a record of any format.
void OriginRun::corrupt(std::uint64_t number) {
    constexpr const char* nonsense = "~";
    std::size_t found_in = 0;
    std::string found;
    for_each_record(origin_, [&](std::size_t area, const std::string& key) {
        if (number_of_record(area, key) != number) return;
        found_in = area;
        found = key;
    });
    origin_.recorder().trace(0, Object::faults,
                             [&] { return "what is under " + found + " spoils"; });
    if (found_in == 0) {
        origin_.storage().overwrite(found, nonsense);
    } else {
        origin_.database().overwrite(static_cast<Store>(found_in - 1), found,
                                     StoredValue{nonsense, false});
    }
}

}  // namespace

Program program_of(Scenario scenario) {
    return [scenario = std::make_shared<Scenario>(std::move(scenario))](
               Tracing tracing) -> std::unique_ptr<Run> {
        return std::make_unique<OriginRun>(*scenario, tracing);
    };
}

std::string describe_process(std::uint64_t process) {
    constexpr std::array<std::string_view, 21> actions = {"dies",
                                                          "freezes",
                                                          "is hidden",
                                                          "goes into the back/forward cache",
                                                          "loses its connection",
                                                          "the database is lost",
                                                          "the quota is used up",
                                                          "site data is cleared",
                                                          "a record spoils",
                                                          "thaws",
                                                          "is shown",
                                                          "comes back",
                                                          "the quota is lifted",
                                                          "the browser dies",
                                                          "is suspended",
                                                          "dies, and its locks stay",
                                                          "the wall clock jumps",
                                                          "runs again",
                                                          "has a dead connection",
                                                          "has a connection that does not answer",
                                                          "is answered again"};
    const auto source = source_of(process);
    const auto kind = static_cast<std::size_t>(source.kind);
    if (kind < static_cast<std::size_t>(ScenarioAction::kill)) return describe(source);
    const std::string tab = source.tab == 0 ? "" : "tab " + std::to_string(source.tab) + " ";
    return tab + std::string(actions.at(kind - static_cast<std::size_t>(ScenarioAction::kill)));
}

}  // namespace tabacus::lab
