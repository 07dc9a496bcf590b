#include "origin.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "lab_parts.hpp"
#include "lab_tab.hpp"

namespace tabacus::lab {
namespace {

constexpr std::size_t history_max = 512;

}  // namespace

std::size_t SeededChooser::choose(const std::vector<Source>& choices) {
    const auto index = random_.below(choices.size());
    // While other events can happen, time passes rarely. Otherwise every timeout would expire.
    const bool redraws = random_.below(clock_draws) != 0;
    if (choices[index].kind != Source::Kind::clock || !redraws) return index;
    return random_.below(choices.size());
}

Origin::Origin(Options options, std::unique_ptr<Chooser> chooser)
    : random_(options.seed),
      chooser_(chooser ? std::move(chooser) : std::make_unique<SeededChooser>(random_.split())),
      scheduler_(recorder_),
      clock_(recorder_),
      storage_(options.storage, recorder_, options.equal_writes),
      database_(
          [this](TransactionId id) {
              scheduler_.post(
                  {Source::Kind::transaction, owner_of(id), number_of(id)},
                  [this, id] { database_.execute(id); }, 0);
          },
          recorder_),
      channels_(recorder_),
      storage_events_(options.storage_events),
      connections_die_(options.connections_die) {
    add_lock_manager();
}

/// Kills the tabs first, because their programs release objects of the origin.
Origin::~Origin() {
    for (const auto& tab : tabs_) tab->die();
}

LabTab& Origin::open_tab(Platform platform) {
    const auto id = static_cast<TabId>(tabs_.size() + 1);
    storage_.start(id);
    return *tabs_.emplace_back(std::make_unique<LabTab>(*this, id, platform));
}

// --- The schedule -------------------------------------------------------------------------------

bool Origin::may_run(const Source& source) {
    if (source.kind == Source::Kind::transaction) {
        return !tab(source.tab).database_->hangs(source.peer);
    }
    if (!runs_in_tab(source.kind)) return true;
    const auto& owner = tab(source.tab);
    if (!owner.active()) return false;
    return source.kind == Source::Kind::inside || !owner.mid_turn();
}

const std::vector<Source>& Origin::choices() {
    choices_.clear();
    for (const auto& source : scheduler_.sources()) {
        if (may_run(source)) choices_.push_back(source);
    }
    if (clock_.waiting()) choices_.push_back({Source::Kind::clock, 0, 0});
    return choices_;
}

std::uint64_t Origin::digest(bool with_disk) const {
    auto sum = scheduler_.digest() + clock_.digest() + storage_.digest(with_disk) +
               database_.digest(with_disk) + channels_.digest() +
               mixed(std::bit_cast<std::uint64_t>(wall_ahead_ms_));
    for (const auto& manager : locks_) sum += manager.digest();
    for (const auto& tab : tabs_) sum += tab->digest();
    return sum;
}

bool Origin::step() {
    const auto& possible = choices();
    if (possible.empty()) return false;
    take(possible.at(chooser_->choose(possible)));
    return true;
}

std::uint32_t Origin::take(const Source& source) {
    record(source);
    return perform(Source(source));
}

void Origin::begin_step() {
    ++steps_;
    scheduler_.begin_step(static_cast<std::uint32_t>(steps_));
    clock_.begin_step(static_cast<std::uint32_t>(steps_));
}

/// Performs an event and returns its cause: for a timer, the step that started it.
std::uint32_t Origin::perform(const Source& source) {
    if (source.kind == Source::Kind::clock) {
        auto timer = clock_.take_next();
        recorder_.trace(timer.tab, Object::now, [] { return std::string("its timer is due"); });
        tab(timer.tab).in_tab(Source::Kind::timer, std::move(timer.callback), timer.id);
        return timer.cause;
    }
    auto [event, cause, content] = scheduler_.take(source);
    if (!runs_in_tab(source.kind)) {
        recorder_.note(Object::source, key_of(source), AccessKind::write);
        event();
        recorder_.take_observed();
        return cause;
    }
    auto& runner = tab(source.tab);
    recorder_.note(Object::pulse, source.tab, AccessKind::read);
    recorder_.note(Object::turn, source.tab, AccessKind::write);
    if (source.kind != Source::Kind::inside) {
        recorder_.note(Object::tab, source.tab, AccessKind::write);
    }
    runner.in_turn_ = true;
    event();
    end_of_turn(runner);
    runner.observe(lab::digest(key_of(source), content, recorder_.take_observed()));
    return cause;
}

/// Notes in the footprint that the tab stops, resumes, or is made to act from outside.
void Origin::note_stop(const LabTab& tab) {
    recorder_.note(Object::pulse, tab.id_, AccessKind::write);
    recorder_.note(Object::tab, tab.id_, AccessKind::write);
    recorder_.note(Object::turn, tab.id_, AccessKind::write);
    recorder_.note(Object::alive, tab.id_, AccessKind::write);
    for (const auto kind : {Source::Kind::outgoing, Source::Kind::request}) {
        recorder_.note(Object::source, key_of({kind, tab.id_, 0}), AccessKind::write);
    }
}

void Origin::end_of_turn(LabTab& tab) {
    tab.run_microtasks();
    tab.in_turn_ = false;
    if (tab.alive_ && !tab.mid_turn()) tab.database_->check_end_of_turn();
}

/// Runs `script` as one turn of the tab, with all operations inside the turn.
template <typename Script>
void Origin::turn(LabTab& tab, Script script) {
    note_stop(tab);
    const Source inside{Source::Kind::inside, tab.id_, 0};
    const auto finish = [&] {
        tab.run_microtasks();
        while (scheduler_.has(inside)) {
            scheduler_.take(inside).event();
            tab.run_microtasks();
        }
    };
    tab.in_turn_ = true;
    finish();
    script();
    finish();
    end_of_turn(tab);
    tab.observe(recorder_.take_observed());
}

void Origin::run(std::size_t steps_max) {
    for (std::size_t taken = 0; step(); ++taken) {
        if (taken >= steps_max)
            throw std::logic_error("events still happen; the last steps are:\n" + recent_steps(40));
    }
}

void Origin::run_until(const std::function<bool()>& done, std::size_t steps_max) {
    for (std::size_t taken = 0; !done(); ++taken) {
        if (taken < steps_max && step()) continue;
        const std::string reason = taken < steps_max ? "no event is left" : "too many steps";
        throw std::logic_error(reason + "; the last steps are:\n" + recent_steps(40));
    }
}

void Origin::record(const Source& source) {
    begin_step();
    if (history_.size() < history_max) {
        history_.push_back(source);
    } else {
        history_[recorded_ % history_max] = source;
    }
    ++recorded_;
}

std::string Origin::recent_steps(std::size_t count) const {
    std::string text;
    for (auto i = recorded_ - std::min(count, history_.size()); i < recorded_; ++i) {
        text += describe(history_[i % history_max]) + "\n";
    }
    return text;
}

// --- Faults -------------------------------------------------------------------------------------

void Origin::kill(LabTab& tab) {
    if (!tab.alive_) return;
    if (random_.coin()) tab.database_->decide_commits([this] { return random_.coin(); });
    kill(tab, random_.below(writes_under_way(tab) + 1), true);
}

std::size_t Origin::writes_under_way(const LabTab& tab) const {
    return scheduler_.pending({Source::Kind::outgoing, tab.id_, 0});
}

bool Origin::commits_under_way(const LabTab& tab) const {
    return tab.database_->commits_under_way();
}

bool Origin::connected(const LabTab& tab) const { return tab.database_->connected(); }

void Origin::kill(LabTab& tab, std::size_t writes_kept, bool commits_kept) {
    if (!tab.alive_) return;
    note_stop(tab);
    recorder_.trace(tab.id_, Object::faults, [] { return std::string("dies"); });
    if (!commits_kept) tab.database_->decide_commits([] { return false; });
    tab.die();
    tab.database_->answer_again();
    // A commit that was called may still happen. All other transactions abort.
    tab.database_->abort_uncommitted();
    scheduler_.drop(tab.id_);
    clock_.drop(tab.id_);
    channels_.end(tab.id_);
    scheduler_.truncate({Source::Kind::outgoing, tab.id_, 0}, writes_kept);
    storage_.end(tab.id_);
    scheduler_.post(
        {Source::Kind::request, tab.id_, 0},
        [&manager = locks(tab), id = tab.id_] { manager.end(id); }, 0);
}

void Origin::orphan_locks(LabTab& tab) {
    locks(tab).orphan(tab.id_);
    kill(tab, writes_under_way(tab), true);
}

void Origin::freeze(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults, [] { return std::string("freezes"); });
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::frozen); });
    tab.frozen_ = true;
}

void Origin::thaw(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults, [] { return std::string("thaws"); });
    tab.frozen_ = false;
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::resumed); });
}

/// Also aborts the tab's transactions, because a browser aborts transactions that make no progress
/// while others wait for them (Chromium does after a minute).
void Origin::suspend(LabTab& tab) {
    tab.frozen_ = true;
    tab.database_->abort_uncommitted();
}

void Origin::wake(LabTab& tab) { tab.frozen_ = false; }

void Origin::jump_wall_clock(double delta_ms) {
    recorder_.trace(0, Object::faults, [] { return std::string("the wall clock jumps"); });
    recorder_.note(Object::now, 0, AccessKind::write);
    wall_ahead_ms_ += delta_ms;
}

void Origin::drop_messages(LabTab& tab) { tab.drops_messages_ = true; }

void Origin::activate(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults, [] { return std::string("is activated"); });
    tab.platform_.prerendered = false;
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::resumed); });
}

void Origin::hide(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults, [] { return std::string("is hidden"); });
    tab.hidden_ = true;
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::hidden); });
}

void Origin::show(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults, [] { return std::string("is shown"); });
    tab.hidden_ = false;
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::visible); });
}

bool Origin::page_hide(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults,
                    [] { return std::string("goes into the back/forward cache"); });
    const bool barred = tab.platform_.locks_bar_cache && locks(tab).holds_any(tab.id_);
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::page_hide); });
    tab.cached_ = true;
    // The tab's messages to the lock manager arrive before its locks are counted.
    const Source requests{Source::Kind::request, tab.id_, 0};
    while (scheduler_.has(requests)) scheduler_.take(requests).event();
    if (barred || locks(tab).holds_any(tab.id_)) {
        kill(tab, writes_under_way(tab), true);
        return false;
    }
    tab.database_->abort_uncommitted();
    return true;
}

void Origin::page_show(LabTab& tab) {
    recorder_.trace(tab.id_, Object::faults,
                    [] { return std::string("comes back from the back/forward cache"); });
    tab.cached_ = false;
    if (tab.platform_.locks_bar_cache) tab.database_->lose_under_way();
    turn(tab, [&] { tab.lifecycle_->notify(LifecycleEvent::page_show); });
}

void Origin::close_connection(LabTab& tab) {
    tab.database_->drop_connection([this] { return random_.coin(); });
}

void Origin::close_connection(LabTab& tab, bool commits_happen) {
    tab.database_->drop_connection([commits_happen] { return commits_happen; });
}

template <typename Happens>
void Origin::lose_connections(Happens happens) {
    for (const auto& tab : tabs_) {
        if (tab->alive_) tab->database_->drop_connection(happens);
    }
}

void Origin::lose_database() {
    lose_connections([this] { return random_.coin(); });
    database_.lose();
    database_lost_ = true;
}

void Origin::lose_database(bool commits_happen) {
    recorder_.trace(0, Object::database, [] { return std::string("the database is lost"); });
    lose_connections([commits_happen] { return commits_happen; });
    database_.lose();
    database_lost_ = true;
}

void Origin::clear_site_data(bool commits_happen) {
    lose_database(commits_happen);
    storage_.wipe();
}

void Origin::clear_site_data() {
    lose_database();
    storage_.wipe();
}

void Origin::add_lock_manager() {
    LockListener& listener = *this;
    locks_.emplace_back(listener, recorder_);
}

LockManager& Origin::locks(const LabTab& tab) { return locks_.at(tab.lock_manager_); }

bool Origin::anybody_alive() const {
    return std::any_of(tabs_.begin(), tabs_.end(), [](const auto& tab) { return tab->alive_; });
}

/// Releases all locks and drops all events. Requires that every tab is dead.
void Origin::end_all() {
    for (const auto& tab : tabs_) locks(*tab).end(tab->id_);
    scheduler_.clear();
}

void Origin::crash() {
    for (const auto& tab : tabs_) kill(*tab);
    end_all();
    database_.crash(random_);
    storage_.forget_latest(random_.below(storage_.unsettled() + 1));
}

void Origin::crash(Kept kept) {
    recorder_.trace(0, Object::faults, [kept] {
        return "the browser dies; its last commits are " +
               std::string(kept.commits ? "kept" : "lost") +
               ", its last writes to localStorage are " + (kept.writes ? "kept" : "lost");
    });
    for (const auto object : {Object::database, Object::locks, Object::processes, Object::now,
                              Object::timers, Object::area}) {
        recorder_.note(object, 0, AccessKind::write);
    }
    for (const auto& tab : tabs_) {
        recorder_.note(Object::copied, tab->id_, AccessKind::write);
        kill(*tab, kept.writes ? writes_under_way(*tab) : 0, kept.commits);
    }
    end_all();
    database_.crash(kept.commits);
    storage_.forget_latest(kept.writes ? 0 : storage_.unsettled());
}

void Origin::post_foreign(std::string_view channel, std::string_view message) {
    broadcast(0, 0, channel, message);
}

// --- Actions of tabs on the shared parts --------------------------------------------------------

void Origin::write_storage(LabTab& writer, std::string_view key,
                           std::optional<std::string_view> value) {
    auto write = storage_.set(writer.id_, writer.id_, key, value);
    recorder_.trace(writer.id_, Object::item, [&] {
        return value ? "writes " + std::string(key) + " = " + std::string(*value)
                     : "removes " + std::string(key);
    });
    if (write) pass_on(std::move(*write));
}

void Origin::clear_storage(LabTab& tab) {
    recorder_.trace(tab.id_, Object::item, [] { return std::string("clears everything"); });
    pass_on(storage_.clear(tab.id_, tab.id_));
}

void Origin::pass_on(StorageArea::Write write) {
    if (storage_.model() == StorageModel::cached) {
        const Source outgoing{Source::Kind::outgoing, write.process, 0};
        const auto content = digest_of(write.change);
        scheduler_.post(outgoing, [this, sent = std::move(write)] { send_write(sent); }, content);
    } else {
        send_write(std::move(write));
    }
}

void Origin::send_write(StorageArea::Write write) {
    if (storage_.model() == StorageModel::cached) {
        recorder_.trace(write.process, Object::area,
                        [&] { return "its " + describe_change(write.change) + " goes out"; });
    }
    write = storage_.send(std::move(write));
    const bool shared = storage_.model() != StorageModel::cached;
    for (const auto process : storage_.processes()) {
        // If all processes share the area, they receive only the event.
        if (shared) {
            receive_write(process, write);
        } else {
            scheduler_.post(
                {Source::Kind::incoming, process, 0},
                [this, process, write] { receive_write(process, write); },
                lab::digest(digest_of(write.change), std::uint64_t{write.process},
                            std::uint64_t{write.changes}));
        }
    }
}

/// Delivers a write, and its event as HTML §12.2.1 "broadcast" says: to every other Storage object
/// of the area. A document that is not fully active receives it once it is.
void Origin::receive_write(ProcessId process, const StorageArea::Write& write) {
    storage_.receive(process, write);
    if (process == write.writer && storage_events_ == StorageEvents::to_others) return;
    if (storage_.model() == StorageModel::cached) {
        recorder_.trace(process, Object::copy,
                        [&] { return "receives " + describe_change(write.change); });
    }
    if (!write.changes) return;
    auto& receiver = tab(process);
    receiver.in_tab(
        Source::Kind::change,
        [&receiver, change = write.change] { receiver.storage_->notify(change); },
        digest_of(write.change));
}

/// Posts a message (HTML §9.5). A cached page never receives it, a frozen one when it resumes.
void Origin::broadcast(TabId sender, ChannelHub::EndpointId endpoint, std::string_view name,
                       std::string_view message) {
    recorder_.trace(sender, Object::channel, [&] { return "posts " + std::string(message); });
    for (const auto& [receiver, id] : channels_.receivers(name, endpoint)) {
        recorder_.note(Object::alive, receiver, AccessKind::read);
        if (tab(receiver).cached_ || tab(receiver).drops_messages_) continue;
        tab(receiver).in_tab(
            Source::Kind::message,
            [this, receiver = receiver, id = id, text = std::string(message)] {
                recorder_.trace(receiver, Object::channel, [&] { return "receives " + text; });
                channels_.deliver(id, text);
            },
            lab::digest(id, message), sender);
    }
}

void Origin::granted(RequestId id) {
    auto& owner = tab(owner_of(id));
    owner.in_tab(Source::Kind::grant, [&owner, id] { owner.locks_->granted(id); }, id);
}

void Origin::not_available(RequestId id) {
    auto& owner = tab(owner_of(id));
    owner.in_tab(
        Source::Kind::grant, [&owner, id] { owner.locks_->not_available(id); },
        lab::digest(id, 1U));
}

void Origin::stolen(RequestId id) {
    auto& owner = tab(owner_of(id));
    owner.in_tab(
        Source::Kind::grant, [&owner, id] { owner.locks_->stolen(id); }, lab::digest(id, 2U));
}

}  // namespace tabacus::lab
