// Tabs that wait without polling, under every schedule of few preemptions with a fault at any
// moment, and under seeded schedules beyond it. At rest each has learnt what concerns it, although a
// holder, a caller or a writer may have died between its act and its message.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "lab/explore/sampling.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/search.hpp"
#include "lab/explore/shrink.hpp"
#include "lab/report/sequence_diagram.hpp"
#include "lock/leader_scene.hpp"
#include "queue/queue_scene.hpp"

namespace tabacus::test {
namespace {

constexpr lab::Faults waiting_faults{lab::Fault::kill, lab::Fault::freeze, lab::Fault::bfcache};
constexpr std::uint64_t waiting_seeds = 200;

/// Watches a lock as Lock.subscribe() does, and keeps the newest answer.
class WatchingPage {
  public:
    explicit WatchingPage(LabTab& world)
        : world_(world), table_(world, "test", [](const Notice&) {}) {}
    void watch() {
        watching_ = table_.on_change("l", [this] { look_again(); });
        look_again();
    }
    [[nodiscard]] bool sees_holder() const { return sees_holder_; }

  private:
    void look_again() {
        again_ = true;
        if (!std::exchange(looking_, true)) scope_.spawn(look());
    }
    Task<void> look() {
        while (std::exchange(again_, false)) {
            co_await world_.clock().end_of_turn();
            auto answer = co_await attempt(table_.is_locked("l"));
            if (answer) sees_holder_ = answer.value();
        }
        looking_ = false;
    }

    LabTab& world_;
    LockTable table_;
    bool sees_holder_ = false;
    bool looking_ = false;
    bool again_ = false;
    Subscription watching_;
    Scope scope_;  // declared last: its coroutines use all members above
};

/// A tab that watches a lock, one that holds it for ever, and others that use it once.
class WatchedLockWorkload final : public lab::Workload {
  public:
    WatchedLockWorkload(LockMode mode, int users) : mode_(mode), users_(users) {}

    void begin(Origin& origin) override {
        watcher_ = &origin.open_tab();
        page_ = &watcher_->run<WatchingPage>(*watcher_);
        watcher_->post([this] { page_->watch(); });
        for (int other = 0; other <= users_; ++other) {
            const bool holds = other == 0;
            auto& tab = origin.open_tab();
            auto& page = tab.run<LockPage>(tab, judge_, last_request_);
            tab.post([this, holds, &page] {
                (void)(holds ? page.hold({.mode = mode_}) : page.count({.mode = mode_}, 0));
            });
        }
    }
    std::string at_rest(Origin& origin) override {
        if (!watcher_->alive()) return {};
        const auto held = origin.locks().snapshot().held;
        const bool locked = std::any_of(held.begin(), held.end(), [](const LockInfo& lock) {
            return lock.name == Names("test").lock("l");
        });
        if (page_->sees_holder() == locked) return {};
        return locked ? "the watcher never learns of the holder" : "the watcher sees a holder";
    }

  private:
    LockMode mode_;
    int users_;
    LockJudge judge_;  // outlives the tabs
    int last_request_ = 0;
    LabTab* watcher_ = nullptr;
    WatchingPage* page_ = nullptr;
};

/// A leader, and a tab that calls it once.
class CalledLeaderWorkload final : public lab::Workload {
  public:
    void begin(Origin& origin) override {
        leader_ = &origin.open_tab();
        auto& leading = leader_->run<ParliamentPage>(*leader_, judge_);
        leader_->post([&leading] { leading.stand(long_term_ms); });
        auto& tab = origin.open_tab();
        auto& calling = tab.run<ParliamentPage>(tab, judge_);
        tab.post([&calling] { calling.call("once"); });
    }
    std::string after_step() override { return judge_.failure; }
    std::string at_rest(Origin& origin) override {
        if (!leader_->alive() || judge_.newest_term == 0) return {};
        for (const auto& [key, row] : origin.database().rows(Store::locks)) {
            if (key.find("/call/") != std::string::npos) return "the leader never sees a kept call";
        }
        return {};
    }

  private:
    Parliament judge_;  // outlives the tabs
    LabTab* leader_ = nullptr;
};

/// A tab that enqueues a job and does not work, and one that works.
class SleepingWorkerWorkload final : public lab::Workload {
  public:
    void begin(Origin& origin) override {
        worker_ = &origin.open_tab();
        auto& working = open(*worker_);
        worker_->post([&working] { working.work(); });
        auto& tab = origin.open_tab();
        auto& writing = open(tab);
        tab.post([&writing] { writing.scope().spawn(enqueue_and_close(writing)); });
    }
    std::string at_rest(Origin& origin) override {
        if (!worker_->alive()) return {};
        for (const auto& [key, row] : origin.database().rows(Store::jobs)) {
            if (key.starts_with("q/r//")) return "no worker finds a job that was enqueued";
        }
        return {};
    }

  private:
    /// A tab that goes on waiting for the outcome would poll for it.
    static Task<void> enqueue_and_close(QueuePage& page) {
        JobSpec job;
        job.payload.text = "job";
        (void)co_await attempt(page.queue().enqueue(std::move(job)));
        page.close();
    }
    QueuePage& open(LabTab& tab) {
        return tab.run<QueuePage>(tab, judge_, QueueOptions{}, QueuePage::Work{.longest_ms = 0});
    }
    QueueJudge judge_;  // outlives the tabs
    LabTab* worker_ = nullptr;
};

using MakeWorkload = std::function<std::unique_ptr<lab::Workload>()>;

lab::Program waiting_program(MakeWorkload make, lab::Faults faults, std::uint32_t faults_max) {
    return lab::program_of({.origin = {},
                            .faults = faults,
                            .faults_max = faults_max,
                            .rewinds = true,
                            .workload = std::move(make)});
}

void report_waiting(const lab::Program& program, const lab::Outcome& failing) {
    const auto shrunk = failing.cut ? failing : lab::shrink(program, failing);
    UNSCOPED_INFO(failing.failure << lab::trace_text(lab::trace_of(program, shrunk.schedule)));
}

/// Explores every schedule with no preemption and at most one fault.
void exhaust_waiting(MakeWorkload make, lab::Faults faults = waiting_faults) {
    const auto program = waiting_program(std::move(make), faults, 1);
    lab::Search search(program, {.preemptions = 0, .steps = 20'000});
    search.explore(UINT64_MAX);
    if (search.failed_run()) report_waiting(program, *search.failed_run());
    CAPTURE(search.counts().steps);
    CHECK_FALSE(search.failed_run());
    CHECK(search.exhausted());
}

/// Runs seeded schedules with up to two faults each.
void sample_waiting(MakeWorkload make) {
    const auto program = waiting_program(std::move(make), waiting_faults, 2);
    const lab::Sampling sampling{2, lab::default_schedule_length(program)};
    for (std::uint64_t seed = 1; seed <= waiting_seeds; ++seed) {
        const auto outcome = lab::sample(program, seed, sampling);
        if (!outcome.failure.empty() || outcome.cut) report_waiting(program, outcome);
        CAPTURE(seed);
        REQUIRE(outcome.failure == "");
        REQUIRE_FALSE(outcome.cut);
    }
}

}  // namespace

TEST_CASE("idle: a tab that watches a lock ends with the right state, whatever dies or stops") {
    for (const auto mode : {LockMode::exclusive, LockMode::shared}) {
        CAPTURE(static_cast<int>(mode));
        exhaust_waiting([mode] { return std::make_unique<WatchedLockWorkload>(mode, 0); });
        for (const int users : {0, 1}) {
            CAPTURE(users);
            sample_waiting([=] { return std::make_unique<WatchedLockWorkload>(mode, users); });
        }
    }
}

TEST_CASE("idle: a leader sees each call that was kept, even if its caller dies at once") {
    exhaust_waiting([] { return std::make_unique<CalledLeaderWorkload>(); }, {lab::Fault::kill});
}

TEST_CASE("idle: a worker finds each job that was kept, whatever stops or dies") {
    exhaust_waiting([] { return std::make_unique<SleepingWorkerWorkload>(); });
    sample_waiting([] { return std::make_unique<SleepingWorkerWorkload>(); });
}

}  // namespace tabacus::test
