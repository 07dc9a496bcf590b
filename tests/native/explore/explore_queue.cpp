// Queues under every schedule of a few preemptions, with a fault at any moment, and under seeded
// schedules beyond.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "equal_states.hpp"
#include "lab/digest.hpp"
#include "lab/explore/sampling.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lab/explore/shrink.hpp"
#include "lab/report/sequence_diagram.hpp"
#include "protocol/common/concat.hpp"
#include "queue/queue_scene.hpp"
#include "rewinding.hpp"

namespace tabacus::test {
namespace {

using lab::Fault;
using lab::Faults;

constexpr std::array explored_faults = {
    Fault::kill,          Fault::freeze,          Fault::throttle,
    Fault::bfcache,       Fault::quota,           Fault::close_connection,
    Fault::lose_database, Fault::dead_connection, Fault::hang_transaction};
constexpr Faults sparing_faults = {Fault::kill,
                                   Fault::freeze,
                                   Fault::throttle,
                                   Fault::bfcache,
                                   Fault::close_connection,
                                   Fault::dead_connection,
                                   Fault::hang_transaction};
constexpr std::uint32_t sampled_faults = 3;
constexpr std::uint64_t stolen_seeds = 10'000;

/// What each tab enqueues in its first turn, and how all of them work.
struct QueuePlan {
    std::vector<int> jobs;  // how many each tab enqueues
    // NOLINTBEGIN(readability-redundant-member-init): so that they may be left out
    QueueOptions options = {};
    QueuePage::Work work = {.longest_ms = 0};
    // NOLINTEND(readability-redundant-member-init)
    bool at_most_once = false;
    bool keyed = false;  // whether jobs have keys, and one follows each with the next one's
    bool alike = false;  // whether the jobs of a tab share a row
    int steals = 0;      // how often a tab steals a slot and releases it at once
    bool quota = false;  // whether the quota may be exceeded, which refuses single jobs
};

/// What the tabs received. It outlives them.
struct QueueBooks {
    QueueJudge judge;
    std::set<std::string> unknown;  // jobs that may have been accepted
    std::set<std::string> refused;
    std::map<std::string, std::vector<JobOutcome::Kind>> received;
};

/// Enqueues jobs, works, and closes once it has received the outcomes of all its jobs.
class QueueClient {
  public:
    QueueClient(LabTab& world, QueueBooks& books, const QueuePlan& plan)
        : world_(world), books_(books), page_(world, books.judge, plan.options, plan.work) {
        page_.on_settled = [this](const std::string& id, const JobOutcome& outcome) {
            outcomes_[id].push_back(outcome.kind);
            wake();
        };
        if (plan.keyed) page_.on_done = follow;
    }
    void live(const std::vector<JobSpec>& specs) {
        for (const auto& spec : specs) {
            ++asking_;
            scope_.spawn(ask(spec));
        }
        page_.work();
        scope_.spawn(leave());
    }
    void work() { page_.work(); }
    void steal() { page_.steal(0); }
    /// Adds the outcomes that it received of each of its jobs to `received`.
    void collect_outcomes(std::map<std::string, std::vector<JobOutcome::Kind>>& received) const {
        for (const auto& [id, payload] : names_) {
            const auto found = outcomes_.find(id);
            if (found != outcomes_.end()) received[payload] = found->second;
        }
    }
    bool done = false;

  private:
    void wake() {
        const auto waiting = std::exchange(wake_signal_, {});
        waiting.complete({});
    }
    [[nodiscard]] bool knows_all() const {
        if (asking_ > 0) return false;
        return std::all_of(names_.begin(), names_.end(),
                           [&](const auto& named) { return outcomes_.contains(named.first); });
    }
    /// Each job is followed by one that has the key of the next job, and that replaces the
    /// next job if it is not done yet.
    static void follow(const JobInfo& job, JobOutcome& outcome) {
        if (job.payload.text == "follower") return;
        auto key = job.payload.text;
        ++key.back();
        outcome.next.push_back({.payload = {"follower", false}, .key = std::move(key)});
    }
    Task<void> ask(JobSpec spec) {
        const auto payload = spec.payload.text;
        auto receipt = co_await attempt(page_.queue().enqueue(std::move(spec)));
        if (receipt) {
            books_.judge.accepted.insert(payload);
            names_[receipt.value().id] = payload;
        } else {
            const bool unknown = receipt.error().code() == ErrorCode::unknown_commit;
            (unknown ? books_.unknown : books_.refused).insert(payload);
        }
        --asking_;
        wake();
    }
    Task<void> leave() {
        while (!knows_all()) {
            const auto signal = wake_signal_;
            co_await signal.async();
        }
        done = true;
        co_await world_.clock().end_of_turn();
        page_.close();
    }

    LabTab& world_;
    QueueBooks& books_;
    int asking_ = 0;
    std::map<std::string, std::string> names_;  // payloads by ids
    std::map<std::string, std::vector<JobOutcome::Kind>> outcomes_;
    Completer<Unit> wake_signal_;
    QueuePage page_;
    Scope scope_;  // declared last: its coroutines use all members above
};

class QueueWorkload final : public lab::Workload {
  public:
    explicit QueueWorkload(QueuePlan plan) : plan_(std::move(plan)) {}

    void begin(Origin& origin) override {
        origin_ = &origin;
        for (std::size_t i = 0; i < plan_.jobs.size(); ++i) {
            auto& client = open(origin);
            members_.back().tab->post([&client, specs = specs_of(i)] { client.live(specs); });
        }
        if (plan_.steals == 0) return;
        auto& stealer = open(origin);
        stealer.done = true;
        for (int i = 0; i < plan_.steals; ++i) {
            members_.back().tab->post([&stealer] { stealer.steal(); });
        }
    }
    [[nodiscard]] std::optional<std::uint64_t> state() const override {
        const auto& [running, most, begun, order, accepted, outcomes] = books_.judge;
        lab::Digest all(most);
        for (const auto& one : running)
            all.add(one.payload).add(static_cast<std::uint64_t>(one.run));
        for (const auto* counts : {&begun, &outcomes}) {
            all.add(counts->size());
            for (const auto& [payload, count] : *counts) {
                all.add(payload).add(static_cast<std::uint64_t>(count));
            }
        }
        for (const auto& payload : order) all.add(payload);
        for (const auto* payloads : {&accepted, &books_.unknown, &books_.refused}) {
            all.add(payloads->size());
            for (const auto& payload : *payloads) all.add(payload);
        }
        return all.value();
    }
    std::string after_step() override {
        if (plan_.keyed && !keys_lead_to_jobs(*origin_))
            return "a key does not lead to its one job";
        // The previous holder may learn of a steal after the next holder has begun.
        if (plan_.steals > 0) return "";
        const auto most = static_cast<int>(books_.judge.most_running);
        return most > plan_.options.concurrency ? "more run than agreed" : "";
    }
    std::string at_rest(Origin& origin) override {
        for (const auto& member : members_) {
            if (!member.tab->alive()) continue;
            if (!member.client->done) {
                return "tab " + std::to_string(member.tab->id()) +
                       " never receives the outcomes of its jobs";
            }
            member.client->collect_outcomes(books_.received);
        }
        open(origin).work();
        origin.run_until([&] { return settled(origin); }, 5'000);
        return judge(origin);
    }

  private:
    struct Member {
        LabTab* tab;
        QueueClient* client;
    };
    static std::string payload(std::size_t tab, int number) {
        return std::to_string(tab + 1) + "." + std::to_string(number + 1);
    }
    /// Returns a tab's jobs. If they are not alike, the last one has the highest priority.
    [[nodiscard]] std::vector<JobSpec> specs_of(std::size_t tab) const {
        std::vector<JobSpec> specs;
        const int count = plan_.jobs[tab];
        specs.reserve(static_cast<std::size_t>(count));
        for (int number = 0; number < count; ++number) {
            specs.push_back({.payload = {payload(tab, number), false},
                             .key = plan_.keyed ? payload(tab, number) : "",
                             .priority = !plan_.alike && number == count - 1 ? 1 : 0,
                             .at_most_once = plan_.at_most_once});
        }
        return specs;
    }
    QueueClient& open(Origin& origin) {
        auto& tab = origin.open_tab();
        auto& client = tab.run<QueueClient>(tab, books_, plan_);
        members_.push_back({&tab, &client});
        return client;
    }

    using Counts = std::map<std::string, int>;
    /// Returns how many jobs are stored under keys that begin with `part`, by payload.
    static Counts stored(Origin& origin, const std::string& part) {
        Counts found;
        for (const auto& [key, value] : origin.database().rows(Store::jobs)) {
            if (!key.starts_with("q/" + part)) continue;
            for (const auto& job : parse_jobs(value.text)) ++found[job.payload.text];
        }
        return found;
    }
    static bool settled(Origin& origin) {
        return stored(origin, "r//").empty() && stored(origin, "w/").empty();
    }
    static int count_in(const Counts& counts, const std::string& payload) {
        const auto found = counts.find(payload);
        return found == counts.end() ? 0 : found->second;
    }

    std::string judge(Origin& origin) {
        const auto effects = stored(origin, "r/effect/");
        const auto dead = stored(origin, "d/");
        int leading = 0;  // jobs that are done, and so each have a follower
        for (std::size_t tab = 0; tab < plan_.jobs.size(); ++tab) {
            bool replaceable =
                false;  // whether the follower of the job before may have replaced it
            for (int number = 0; number < plan_.jobs[tab]; ++number) {
                const auto name = payload(tab, number);
                const int done = count_in(effects, name);
                const int settled = done + count_in(dead, name);
                auto failure = judge_job(name, settled, replaceable || origin.has_lost_database());
                if (!failure.empty()) return concat({"job ", name, " ", failure});
                replaceable = plan_.keyed && done > 0;
                leading += done;
            }
            if (auto failure = judge_order(tab); !failure.empty()) return failure;
        }
        const bool all_follow = count_in(effects, "follower") == leading;
        return all_follow || !plan_.keyed || origin.has_lost_database() ? "" : "a follower is lost";
    }
    /// `excused`: whether the job may be gone although it was accepted.
    std::string judge_job(const std::string& name, int settled, bool excused) {
        const int begun = count_in(books_.judge.begun, name);
        if (settled > 1) return "is settled twice";
        if (plan_.at_most_once && begun > 1) return "is begun twice";
        if (books_.refused.contains(name)) {
            return begun + settled > 0 ? "was refused, and exists" : "";
        }
        const bool accepted = books_.judge.accepted.contains(name);
        if (accepted && settled == 0 && !excused) return "is lost";
        const auto received = books_.received.find(name);
        if (received != books_.received.end() && received->second.size() > 1)
            return "is reported twice";
        return {};
    }
    /// Checks that the jobs of a tab, which enqueues all in one transaction, begin by priority and
    /// then by position. Returns the failure, or an empty text.
    std::string judge_order(std::size_t tab) {
        if (plan_.options.concurrency > 1 || plan_.quota) return {};
        std::vector<std::string> expected;
        const int count = plan_.jobs[tab];
        expected.reserve(static_cast<std::size_t>(count));
        const int begins = plan_.alike ? 0 : count - 1;
        for (int i = 0; i < count; ++i) expected.push_back(payload(tab, (i + begins) % count));
        std::vector<std::string> first;
        for (const auto& begun : books_.judge.order) {
            const bool own = std::find(expected.begin(), expected.end(), begun) != expected.end();
            if (own && std::find(first.begin(), first.end(), begun) == first.end()) {
                first.push_back(begun);
            }
        }
        std::erase_if(expected, [&](const std::string& one) {
            return std::find(first.begin(), first.end(), one) == first.end();
        });
        return first == expected ? "" : "jobs of one tab begin out of order";
    }

    QueuePlan plan_;
    QueueBooks books_;  // outlives the tabs
    Origin* origin_ = nullptr;
    std::vector<Member> members_;
};

lab::Program program_of_queue(QueuePlan plan, Faults faults, std::uint32_t faults_max) {
    plan.quota = faults.contains(Fault::quota);
    return lab::program_of({.origin = {},
                            .faults = faults,
                            .faults_max = faults_max,
                            .rewinds = true,
                            .workload = [plan] { return std::make_unique<QueueWorkload>(plan); }});
}

std::string trace_of(const lab::Program& program, const lab::Outcome& failing) {
    const auto shrunk = failing.cut ? failing : lab::shrink(program, failing);
    return lab::trace_text(lab::trace_of(program, shrunk.schedule));
}

/// Explores every schedule within the bound, with at most one of these faults.
void exhaust_queue(const QueuePlan& plan, Faults faults, lab::Bound bound) {
    const auto program = program_of_queue(plan, faults, faults.empty() ? 0U : 1U);
    lab::Search search(program, bound);
    search.explore(UINT64_MAX);
    if (search.failed_run()) UNSCOPED_INFO(trace_of(program, *search.failed_run()));
    CAPTURE(faults.bits(), bound.preemptions, bound.ordered, search.counts().cut);
    CAPTURE(search.counts().steps);
    CHECK(search.exhausted());
}

/// Runs one seeded schedule, and counts it in `failed` if it fails.
void sample_once(const QueuePlan& plan, Faults faults, std::uint64_t seed, int& failed) {
    const auto most = faults.empty() ? 0U : sampled_faults;
    const auto program = program_of_queue(plan, faults, most);
    const auto outcome = lab::sample(program, seed, {.faults_max = most, .length = 300});
    if (outcome.failure.empty() && !outcome.cut) return;
    ++failed;
    UNSCOPED_INFO("seed " << seed << ": " << outcome.failure << (outcome.cut ? " cut" : ""));
    UNSCOPED_INFO(trace_of(program, outcome));
}

/// Runs `count` seeded schedules with up to three faults each. Requires that none fails, and that
/// each ends: a live-lock is a failure.
void sample_queue(QueuePlan plan, std::uint64_t first, std::uint64_t count) {
    int failed = 0;
    for (auto seed = first; seed < first + count; ++seed) {
        plan.at_most_once = seed % 4 == 1;
        plan.options.concurrency = 1 + static_cast<int>(seed / 4 % 2);
        plan.work.longest_ms = seed % 3 == 0 ? 20 : 0;
        plan.work.failures = seed % 5 == 0 ? 1 : 0;
        auto faults = sparing_faults;
        if (seed % 8 == 7) faults.insert(Fault::lose_database);
        if (seed % 8 > 2) faults.insert(Fault::quota);
        sample_once(plan, faults, seed, failed);
    }
    CHECK(failed == 0);
}

}  // namespace

TEST_CASE("queue: from equal states the same steps lead to equal states and to the same ends") {
    lab::SeededRandom random(1);
    for (const auto fault : explored_faults) {
        for (const auto& jobs : {std::vector{2, 1}, std::vector{1, 1, 1}}) {
            CAPTURE(fault, jobs.size());
            const auto program = program_of_queue({.jobs = jobs}, {fault}, 1);
            const auto seen = lab::test::seen_by_neighbours(program, random, 60);
            CHECK(seen.differs == 0);
            CHECK(seen.other_ways > 0);
        }
    }
}

TEST_CASE("queue: a search that rewinds and one that replays report the same") {
    for (const auto fault : explored_faults) {
        CAPTURE(fault);
        const auto program = program_of_queue({.jobs = {1, 1, 1}}, {fault}, 1);
        lab::test::check_rewinding(program, {.preemptions = 1});
    }
}

TEST_CASE("queue: no schedule of two or three tabs loses, doubles or disorders a job") {
    exhaust_queue({.jobs = {1, 1, 1}}, {}, {.preemptions = 0});
    for (const bool alike : {false, true}) {
        exhaust_queue({.jobs = {2, 1}, .alike = alike}, {}, {.preemptions = 1});
        for (const auto fault : explored_faults) {
            exhaust_queue({.jobs = {2, 1}, .alike = alike}, {fault}, {.preemptions = 0});
        }
    }
}

TEST_CASE("queue: no schedule leaves two jobs of one key, or a key without its job") {
    exhaust_queue({.jobs = {3}, .keyed = true}, {}, {.preemptions = 1});
    for (const auto fault : explored_faults) {
        exhaust_queue({.jobs = {3}, .keyed = true}, {fault}, {.preemptions = 0});
    }
}

TEST_CASE("queue: a worker whose slot was stolen without its knowledge settles nothing") {
    exhaust_queue({.jobs = {1, 1}, .steals = 1}, {}, {.preemptions = 1});
    int failed = 0;
    for (std::uint64_t seed = 0; seed < stolen_seeds; ++seed) {
        sample_once({.jobs = {2, 1}, .steals = 1}, {}, seed, failed);
    }
    CHECK(failed == 0);
}

TEST_CASE("queue: no schedule with a fault breaks at-most-once delivery") {
    for (const auto fault : explored_faults) {
        exhaust_queue({.jobs = {1, 1}, .at_most_once = true}, {fault}, {.preemptions = 0});
    }
}

TEST_CASE("queue: no seeded schedule of three tabs with three jobs and three faults each fails") {
    sample_queue({.jobs = {3, 3, 3}}, 0, 64);
    sample_queue({.jobs = {3, 3, 3}, .alike = true}, 0, 64);
}

TEST_CASE(
    "queue: no job is lost or doubled when tabs are suspended, locks outlive them, or clocks "
    "jump") {
    for (const auto fault : {Fault::suspend, Fault::orphaned_lock, Fault::clock_jump}) {
        exhaust_queue({.jobs = {1, 1}}, {fault}, {.preemptions = 0});
    }
    int failed = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        QueuePlan plan{.jobs = {2, 2, 1}, .at_most_once = seed % 4 == 1};
        plan.work.longest_ms = seed % 3 == 0 ? 20 : 0;
        plan.work.failures = seed % 5 == 0 ? 1 : 0;
        sample_once(plan, {Fault::suspend, Fault::orphaned_lock, Fault::clock_jump}, seed, failed);
    }
    CHECK(failed == 0);
}

TEST_CASE("queue: no schedule within more preemptions, or of three tabs, fails", "[.][long]") {
    exhaust_queue({.jobs = {2, 1}}, {}, {.preemptions = 2});
    exhaust_queue({.jobs = {2, 1}, .alike = true}, {}, {.preemptions = 2, .ordered = true});
    exhaust_queue({.jobs = {1, 1, 1}}, {}, {.preemptions = 1, .ordered = true});
    for (const auto fault : explored_faults) {
        exhaust_queue({.jobs = {2, 1}}, {fault}, {.preemptions = 1, .ordered = true});
        exhaust_queue({.jobs = {2, 1}, .alike = true}, {fault},
                      {.preemptions = 1, .ordered = true});
        exhaust_queue({.jobs = {1, 1, 1}}, {fault}, {.preemptions = 0});
    }
}

TEST_CASE("queue: none of 5,000 seeds with three faults each fails", "[.][long]") {
    sample_queue({.jobs = {3, 3, 3}}, 1'000, 2'500);
    sample_queue({.jobs = {3, 3, 3}, .alike = true}, 1'000, 2'500);
}

TEST_CASE("queue: no schedule within still more preemptions fails", "[.][long]") {
    exhaust_queue({.jobs = {2, 1}}, {}, {.preemptions = 3, .ordered = true});
    exhaust_queue({.jobs = {2, 1}, .alike = true}, {}, {.preemptions = 3, .ordered = true});
    exhaust_queue({.jobs = {1, 1, 1}}, {}, {.preemptions = 1});
    for (const auto fault : explored_faults) {
        exhaust_queue({.jobs = {2, 1}}, {fault}, {.preemptions = 1});
        exhaust_queue({.jobs = {1, 1}, .at_most_once = true}, {fault}, {.preemptions = 1});
    }
}

}  // namespace tabacus::test
