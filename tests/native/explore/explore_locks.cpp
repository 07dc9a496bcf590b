// Locks, and leaders built on them, under every schedule up to a preemption bound, and under seeded
// schedules beyond it. At any moment a tab is killed, frozen or cached, or the lock is stolen.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "equal_states.hpp"
#include "lab/digest.hpp"
#include "lab/explore/sampling.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lock/leader_scene.hpp"
#include "rewinding.hpp"

namespace tabacus::test {
namespace {

/// The faults of which one may happen in a run, at any moment.
constexpr lab::Faults lock_faults{lab::Fault::kill, lab::Fault::freeze, lab::Fault::bfcache};

/// The faults of one tab's connection to the database. A commit that was cut off is found out, or
/// its outcome is unknown.
constexpr lab::Faults database_faults{lab::Fault::close_connection, lab::Fault::dead_connection,
                                      lab::Fault::hang_transaction};

/// The faults after which nobody releases a lock, so that a tab that waits evicts its holder.
constexpr lab::Faults liveness_faults{lab::Fault::suspend, lab::Fault::orphaned_lock};

struct Exploring {
    lab::Faults faults;
    std::uint32_t faults_max = 1;
    bool alike = false;
    bool rewinds = true;
    std::function<std::unique_ptr<lab::Workload>()> workload;

    [[nodiscard]] lab::Program program() const {
        return lab::program_of({.origin = {},
                                .faults = faults,
                                .faults_max = faults.empty() ? 0U : faults_max,
                                .alike = alike,
                                .rewinds = rewinds,
                                .workload = workload});
    }
    void exhaust(lab::Bound bound) const {
        bound.steps = 20'000;
        lab::Search search(program(), bound);
        search.explore(UINT64_MAX);
        if (search.failed_run()) UNSCOPED_INFO(search.failed_run()->failure);
        CAPTURE(search.counts().steps);
        CHECK_FALSE(search.failed_run());
        CHECK(search.exhausted());
    }
    /// Runs seeds 1 to `seeds`: random walks, and schedules of PCT.
    void sample(std::uint64_t seeds) const {
        const auto run = program();
        const lab::Sampling sampling{faults.empty() ? 0U : faults_max,
                                     lab::default_schedule_length(run)};
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            CAPTURE(seed);
            const auto outcome = lab::sample(run, seed, sampling);
            CHECK(outcome.failure == "");
            CHECK_FALSE(outcome.cut);
        }
    }
};

constexpr std::uint64_t explored_seeds = 100;
constexpr std::uint64_t long_samples = 2'000;

/// How runs ended: the order of the grants, the number of commits, and how many had an unknown
/// outcome.
using LockEnds = std::set<std::tuple<std::vector<int>, int, int>>;

struct LockCast {
    std::size_t tabs = 3;
    std::size_t requests = 2;
    bool stolen = false;
    bool limited = true;  // whether requests have a maxHold
    bool hangs = false;   // whether a holder hangs for longer, so that it is evicted
    bool evicts = false;  // whether requests evict a holder that does not answer
    bool sweeps = false;  // whether a tab removes the rows of unused locks meanwhile
    bool fence_optional = false;
    /// How many other names each request uses first, so that the queues of unused ones are removed.
    int others = 0;
    int* removals = nullptr;   // counts how often that removes the queue of the lock itself
    int commits = 1;           // of each grant
    bool known = false;        // whether the outcome of each commit must be known
    LockEnds* ends = nullptr;  // where each run adds how it ended
};

class LockWorkload final : public lab::Workload {
  public:
    explicit LockWorkload(LockCast cast) : cast_(cast) {
        judge_.lenient = cast.stolen || cast.hangs || cast.evicts;
    }

    void begin(Origin& origin) override {
        const auto max_hold_ms = cast_.limited ? std::optional(max_hold_max_ms) : std::nullopt;
        for (std::size_t i = 0; i < cast_.tabs; ++i) {
            auto& page = open(origin);
            for (std::size_t n = 0; n < cast_.requests; ++n) {
                const int turns = turns_before(n);
                const Function<void()> ask = [this, i, max_hold_ms, &page] {
                    use_others(page);
                    members_[i].requests.push_back(
                        page.count({.max_hold_ms = max_hold_ms,
                                    .evict_unresponsive = cast_.evicts,
                                    .fence_optional = cast_.fence_optional},
                                   cast_.commits));
                };
                if (cast_.others > 0 && n > 0) {
                    ask_later(*members_.back().tab, page, n, ask);
                } else {
                    after_turns(*members_.back().tab, turns, ask);
                }
            }
        }
        if (cast_.sweeps) begin_sweep(origin);
        if (!cast_.stolen) return;
        auto& stealer = open(origin);
        members_.back().tab->post([this, &stealer] {
            members_.back().requests.push_back(stealer.count({.steal = true}));
        });
    }
    /// Returns a hash of the judge and of all requests. Requests are numbered over all tabs, in the
    /// order in which they are made.
    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        lab::Digest all(static_cast<std::uint64_t>(last_request_));
        const auto add = [&all](auto number) { all.add(static_cast<std::uint64_t>(number)); };
        for (const auto number : {judge_.committed, judge_.unknown}) add(number);
        add(judge_.newest);
        for (const auto number : judge_.order) add(number);
        for (const auto& holder : judge_.inside) add(-holder.request);
        for (const auto& member : members_) {
            add(member.requests.size());
            for (const auto& request : member.requests) add(request->number);
        }
        return all.value();
    }
    std::string after_step() override {
        return judge_.failures.empty() ? "" : judge_.failures.front();
    }
    std::string at_rest(Origin& origin) override {
        if (cast_.ends != nullptr) {
            cast_.ends->emplace(judge_.order, judge_.committed, judge_.unknown);
        }
        if (cast_.known && judge_.unknown > 0) return "the outcome of a commit is unknown";
        int unreported = 0;
        for (const auto& member : members_) {
            if (!member.tab->alive()) ++unreported;
            for (const auto& request : member.requests) {
                if (member.tab->alive() && !request->ended) return "a request never ends";
                if (cast_.fence_optional && request->error) return "a request needs the database";
                if (cast_.sweeps && request->loss == "fenced") return "a sweep fenced a holder";
            }
        }
        const auto stored = count_of(origin);
        if (stored < judge_.committed) return "a commit is lost";
        if (stored > judge_.committed + judge_.unknown + unreported)
            return "a refused write was kept";
        if (const auto failure = order_of_tabs(); !failure.empty()) return failure;
        return free_again(origin);
    }

  private:
    static constexpr double max_hold_max_ms = 60'000;
    struct Member {
        LabTab* tab;
        std::vector<LockPage::RequestPtr> requests;
    };
    /// How many turns of a tab precede its request `n`.
    [[nodiscard]] int turns_before(std::size_t n) const {
        return cast_.sweeps ? static_cast<int>(5 * n + 5) : 0;
    }
    /// Uses other names for a moment.
    void use_others(LockPage& page) const {
        const bool kept = page.table().keeps("l");
        for (int i = 0; i < cast_.others; ++i) {
            (void)page.table().on_broadcast("other " + std::to_string(i), [](const auto&) {});
        }
        if (cast_.removals && kept && !page.table().keeps("l")) ++*cast_.removals;
    }
    /// Calls `then` when the locks of the `earlier` requests have been let go for a while.
    static void ask_later(LabTab& tab, LockPage& page, std::size_t earlier, Function<void()> then) {
        tab.post([&page, earlier, then] {
            page.scope().spawn(
                [](Clock& clock, double delay_ms, Function<void()> ask) -> Task<void> {
                    co_await clock.sleep(delay_ms);
                    ask();
                }(page.world().clock(), 2 * max_hold_max_ms * static_cast<double>(earlier), then));
        });
    }
    /// Calls `then` after so many more turns of the tab, during which a sweep goes on.
    static void after_turns(LabTab& tab, int turns, Function<void()> then) {
        tab.post([&tab, turns, then] {
            if (turns == 0) return then();
            after_turns(tab, turns - 1, then);
        });
    }
    LockPage& open(Origin& origin) {
        auto& tab = origin.open_tab();
        members_.push_back({&tab, {}});
        return tab.run<LockPage>(tab, judge_, last_request_);
    }
    /// The lock's last grant and the last sweep are long ago, by a clock that was set back since, so
    /// that a tab that uses another lock sweeps.
    void begin_sweep(Origin& origin) {
        constexpr std::int64_t day_ms = 86'400'000;
        LockRow old{.last = 1, .fence = 1, .born = "b", .grant = "g", .tab = "t", .label = ""};
        old.since_ms = day_ms;
        auto& database = origin.database();
        database.overwrite(Store::locks, "/swept", lab::StoredValue{std::to_string(day_ms), false});
        database.overwrite(Store::locks, "l", lab::StoredValue{format_lock_row(old), false});
        auto& sweeper = open(origin);
        members_.back().tab->post([this, &sweeper] {
            members_.back().requests.push_back(sweeper.hold({}, "m"));
            members_.back().requests.back()->let_go.complete({});
        });
    }
    static int count_of(Origin& origin) {
        const auto& rows = origin.database().rows(Store::data);
        const auto found = rows.find("counts/n");
        return found == rows.end() ? 0 : std::stoi(found->second.text);
    }
    /// Checks that the requests of each tab are granted in their order, as tab.serial() promises.
    /// Returns the failure, or an empty text.
    [[nodiscard]] std::string order_of_tabs() const {
        for (const auto& member : members_) {
            auto from = judge_.order.begin();
            for (const auto& request : member.requests) {
                const auto at = std::ranges::find(judge_.order, request->number);
                if (at == judge_.order.end()) continue;
                if (at < from) return "a tab's requests were granted out of their order";
                from = at;
            }
        }
        return {};
    }
    std::string free_again(Origin& origin) {
        auto& late = open(origin);
        const auto request = late.count({.evict_unresponsive = cast_.evicts});
        origin.run_until([&] { return request->ended; });
        if (!request->granted || !request->commit_errors.empty()) return "a later request fails";
        origin.run();
        const auto left = origin.locks().snapshot();
        // Tabs keep their liveness locks, and nobody needs the watch lock of a tab that is gone.
        const Names names("test");
        const bool held = std::ranges::any_of(left.held, [&](const LockInfo& lock) {
            return lock.name == names.lock("l") || lock.name == names.entry_lock("l");
        });
        const bool all = !cast_.evicts && !left.held.empty();
        if (held || all || !left.pending.empty()) return "a holder or a waiter is left";
        return after_step();
    }

    LockCast cast_;
    LockJudge judge_;  // outlives the tabs
    int last_request_ = 0;
    std::vector<Member> members_;
};

Exploring locks(LockCast cast, lab::Faults faults = {}) {
    const bool keeps_outside = cast.ends || cast.removals;
    const bool alike = !cast.stolen && !cast.sweeps;
    return {.faults = faults, .alike = alike, .rewinds = !keeps_outside, .workload = [cast] {
                return std::make_unique<LockWorkload>(cast);
            }};
}

struct LeaderCast {
    int tabs = 3;
    int requests = 2;
    bool stolen = false;
};

class LeaderWorkload final : public lab::Workload {
  public:
    explicit LeaderWorkload(LeaderCast cast) : cast_(cast) { judge_.lenient = cast.stolen; }

    void begin(Origin& origin) override {
        for (int i = 0; i < cast_.tabs; ++i) {
            auto& page = open(origin);
            const auto name = std::to_string(i) + "/";
            members_.back()->post([&page] { page.stand(short_term_ms); });
            for (int n = 0; n < cast_.requests; ++n) {
                members_.back()->post(
                    [&page, call = name + std::to_string(n)] { page.call(call); });
            }
        }
        if (!cast_.stolen) return;
        auto& stealer = open(origin);
        members_.back()->post([&stealer] { stealer.stand(short_term_ms, {.steal = true}); });
    }
    std::string after_step() override { return judge_.failure; }
    std::string at_rest(Origin& origin) override {
        const auto lives = [this](const std::string& request) {
            return members_[static_cast<std::size_t>(request.front() - '0')]->alive();
        };
        judge_calls(judge_, origin, lives);
        if (!judge_.failure.empty()) return judge_.failure;
        // The next leader answers all calls that are left.
        auto& late = open(origin);
        const auto call = late.call(std::to_string(members_.size() - 1) + "/late", {});
        late.stand(short_term_ms, {}, call);
        origin.run_until([&] { return call->ended; });
        if (call->error) return "a later leader does not answer";
        origin.run();
        for (const auto& [request, effect] : effects_of(origin)) {
            if (effect != "1") judge_.report_failure(request + " was committed twice");
        }
        return judge_.failure;
    }

  private:
    ParliamentPage& open(Origin& origin) {
        auto& tab = origin.open_tab();
        members_.push_back(&tab);
        return tab.run<ParliamentPage>(tab, judge_);
    }
    LeaderCast cast_;
    Parliament judge_;  // outlives the tabs
    std::vector<LabTab*> members_;
};

Exploring leaders(LeaderCast cast, lab::Faults faults = {}) {
    return {.faults = faults,
            .workload = [cast] { return std::make_unique<LeaderWorkload>(cast); }};
}

}  // namespace

TEST_CASE("lock: from equal states the same steps lead to equal states and to the same ends") {
    lab::SeededRandom random(1);
    for (const std::size_t tabs : {1U, 2U, 3U}) {
        for (const bool stolen : {false, true}) {
            CAPTURE(tabs, stolen);
            const auto program = locks({.tabs = tabs, .stolen = stolen}, lock_faults).program();
            const auto seen = lab::test::seen_by_neighbours(program, random, 100);
            CHECK(seen.differs == 0);
            CHECK(seen.other_ways > 0);
        }
    }
}

TEST_CASE("lock, leader: a search that rewinds and one that replays report the same") {
    for (const bool stolen : {false, true}) {
        CAPTURE(stolen);
        const lab::Bound bound{.preemptions = 1, .steps = 20'000};
        lab::test::check_rewinding(locks({.stolen = stolen}, lock_faults).program(), bound);
        lab::test::check_rewinding(leaders({.stolen = stolen}, lock_faults).program(), bound);
    }
}

TEST_CASE("lock: three tabs with two requests each get the lock in their orders, one at a time") {
    locks({}).exhaust({.preemptions = 0});
    locks({.tabs = 2}).exhaust({.preemptions = 1});
    locks({.limited = false}).sample(explored_seeds);
}

TEST_CASE("lock: a tab that removes the queues of unused names loses no request and no token") {
    int removals = 0;
    locks({.tabs = 2, .others = 17, .removals = &removals}).exhaust({.preemptions = 0});
    CHECK(removals > 0);
    removals = 0;
    locks({.tabs = 2, .others = 17, .removals = &removals}, lock_faults).sample(explored_seeds);
    CHECK(removals > 0);
}

TEST_CASE("lock: every request ends when a tab is killed, frozen or cached at any moment") {
    locks({.tabs = 2}, lock_faults).exhaust({.preemptions = 0});
    locks({.limited = false}, lock_faults).sample(explored_seeds);
}

TEST_CASE(
    "lock: requests that prefer a fence are granted when the quota is used up at any moment") {
    const LockCast cast{.tabs = 2, .limited = false, .fence_optional = true};
    locks(cast, {lab::Fault::quota}).exhaust({.preemptions = 0});
    locks(cast, {lab::Fault::kill, lab::Fault::freeze, lab::Fault::quota}).sample(explored_seeds);
}

TEST_CASE("lock: every request ends when the lock is stolen at any moment, even with a fault") {
    locks({.tabs = 1, .stolen = true}).exhaust({.preemptions = 1});
    locks({.stolen = true}, lock_faults).sample(explored_seeds);
}

TEST_CASE("lock: every request ends when a holder hangs for longer than maxHold, by seeds") {
    locks({.hangs = true}, lock_faults).sample(explored_seeds);
}

TEST_CASE(
    "lock: every request ends when a tab is suspended, or its locks outlive it, at any moment") {
    const LockCast cast{.tabs = 2, .requests = 1, .limited = false, .evicts = true};
    locks(cast, liveness_faults).exhaust({.preemptions = 0});
    locks({.limited = false, .evicts = true}, liveness_faults).sample(explored_seeds);
    locks({.limited = false, .evicts = true}).sample(explored_seeds);
}

TEST_CASE("lock: no commit is lost or doubled when a connection is closed, dies or never answers") {
    const LockCast cast{.tabs = 2, .requests = 1, .limited = false, .commits = 2};
    locks(cast, database_faults).exhaust({.preemptions = 0});
    locks({.limited = false, .commits = 2}, database_faults).sample(explored_seeds);
    // The proof of a commit tells its outcome, if no other commit has followed it.
    const LockCast alone{.tabs = 1, .limited = false, .known = true};
    locks(alone, {lab::Fault::dead_connection, lab::Fault::hang_transaction})
        .exhaust({.preemptions = 1});
}

TEST_CASE("lock: every request ends, and no commit is lost, when the wall clock jumps by a day") {
    locks({.limited = false}, {lab::Fault::clock_jump}).sample(explored_seeds);
}

TEST_CASE("lock: a sweep of unused locks fences no holder, and lets every request end") {
    locks({.tabs = 1, .requests = 1, .limited = false, .sweeps = true}).exhaust({.preemptions = 0});
    const LockCast cast{.tabs = 2, .limited = false, .sweeps = true};
    locks(cast).sample(4 * explored_seeds);
    locks(cast, lock_faults).sample(explored_seeds);
}

TEST_CASE("leader: terms rise, and each call of three tabs is committed once and ends") {
    leaders({}).exhaust({.preemptions = 0});
    leaders({}).sample(explored_seeds);
}

TEST_CASE("leader: terms rise and calls end when a tab is killed, frozen or cached at any moment") {
    leaders({.tabs = 1, .requests = 1}, lock_faults).exhaust({.preemptions = 0});
    leaders({}, lock_faults).sample(explored_seeds);
}

TEST_CASE("leader: terms rise and calls end when a connection dies or does not answer") {
    leaders({.tabs = 1, .requests = 1}, database_faults).exhaust({.preemptions = 0});
    leaders({}, database_faults).sample(explored_seeds);
}

TEST_CASE("leader: terms rise and calls end when the lock is stolen at any moment") {
    leaders({.tabs = 1, .requests = 1, .stolen = true}).exhaust({.preemptions = 0});
    leaders({.stolen = true}, lock_faults).sample(explored_seeds);
}

TEST_CASE("leader: no schedule within bounds that take long fails", "[.][long]") {
    leaders({.tabs = 2, .requests = 1}).exhaust({.preemptions = 1});
    leaders({.tabs = 2, .requests = 1}, lock_faults).exhaust({.preemptions = 0});
    leaders({.tabs = 1, .requests = 1}, lock_faults).exhaust({.preemptions = 1});
    leaders({.tabs = 2, .requests = 1}, database_faults).exhaust({.preemptions = 0});
    leaders({}, database_faults).sample(long_samples);
    leaders({.tabs = 1, .requests = 1, .stolen = true}).exhaust({.preemptions = 1});
    leaders({.stolen = true}, lock_faults).sample(long_samples);
}

TEST_CASE("lock: no schedule within bounds that take long fails", "[.][long]") {
    locks({}).exhaust({.preemptions = 1});
    locks({}, lock_faults).exhaust({.preemptions = 0});
    locks({.tabs = 2}, lock_faults).exhaust({.preemptions = 1});
    locks({.tabs = 2}, database_faults).exhaust({.preemptions = 1});
    locks({.limited = false, .commits = 2}, database_faults).sample(long_samples);
    locks({.stolen = true}).exhaust({.preemptions = 0});
    locks({.tabs = 2, .requests = 1, .stolen = true}).exhaust({.preemptions = 1});
    locks({.tabs = 2, .stolen = true}).exhaust({.preemptions = 1});
    locks({}, {lab::Fault::kill}).exhaust({.preemptions = 1});
}

TEST_CASE("lock: the order in which equal tabs begin changes no end", "[.][long]") {
    for (const auto& [preemptions, faults] : {std::pair{1U, lab::Faults()}, {0U, lock_faults}}) {
        CAPTURE(preemptions, faults.bits());
        LockEnds ends_of_all;
        auto all = locks({.ends = &ends_of_all}, faults);
        all.alike = false;
        all.exhaust({.preemptions = preemptions});
        LockEnds ends_of_the_first;
        locks({.ends = &ends_of_the_first}, faults).exhaust({.preemptions = preemptions});
        CHECK(ends_of_the_first == ends_of_all);
        CHECK(ends_of_all.size() > 1);
    }
}

}  // namespace tabacus::test
