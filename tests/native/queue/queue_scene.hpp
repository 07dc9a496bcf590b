// QueueScene: a simulated origin, pages that enqueue and run jobs in it, and the judge of all runs.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/lab_tab.hpp"
#include "lab/origin.hpp"
#include "lock/lock_scene.hpp"
#include "protocol/queue/queue_record.hpp"
#include "tabacus/lock/lock.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus::test {

/// The kind of the jobs that the settlement of a job enqueues. No tab handles them, so that their
/// rows show which settlements were committed.
constexpr std::string_view effect_kind = "effect";

/// Records all runs of jobs, in whichever tab.
struct QueueJudge {
    struct Running {
        const void* page;
        int run;
        std::string payload;
    };
    void begin(const void* page, int run, const JobInfo& job) {
        running.push_back({page, run, job.payload.text});
        most_running = std::max(most_running, running.size());
        ++begun[job.payload.text];
        order.push_back(job.payload.text);
    }
    void end(const void* page, int run) {
        std::erase_if(running,
                      [&](const Running& other) { return other.page == page && other.run == run; });
    }
    void end_all(const void* page) {
        std::erase_if(running, [&](const Running& other) { return other.page == page; });
    }
    std::vector<Running> running;
    std::size_t most_running = 0;
    std::map<std::string, int> begun;
    std::vector<std::string> order;
    std::set<std::string> accepted;
    std::map<std::string, int> outcomes;  // how many `done` the enqueuing tabs received, by payload
};

class QueuePage {
  public:
    struct Work {
        double longest_ms = 3;
        std::uint64_t slow_one_in = 1;  // one job in so many takes time; the others end at once
        int failures = 0;               // how often each job fails before it is done
        int effects = 1;                // how many effects each job enqueues
        bool blocking = false;          // each job ends before anything else happens in its tab
    };
    QueuePage(LabTab& world, QueueJudge& judge, QueueOptions options, Work work)
        : world_(world),
          judge_(judge),
          work_(work),
          locks_(world, "test", [this](const Notice& notice) { notices.push_back(notice); }),
          queues_(world, "test", locks_,
                  [this](const Notice& notice) { notices.push_back(notice); }),
          queue_(queues_.queue("q", options,
                               {[this](int run, const JobInfo& job) { begin(run, job); },
                                [this](int run, std::string_view) { end(run); },
                                [this](const JobOutcomes& outcomes) {
                                    for (const auto& [id, outcome] : outcomes) settled(id, outcome);
                                },
                                [this](const QueueEvent& event) { events.push_back(event); }})) {}
    QueuePage(const QueuePage&) = delete;
    QueuePage& operator=(const QueuePage&) = delete;
    QueuePage(QueuePage&&) = delete;
    QueuePage& operator=(QueuePage&&) = delete;
    ~QueuePage() { judge_.end_all(this); }

    struct Asked {
        std::optional<ErrorCode> error;
        std::string id;
        bool joined = false;
        bool ended = false;
    };
    std::shared_ptr<Asked> enqueue(JobSpec spec) {
        auto asked = std::make_shared<Asked>();
        scope_.spawn(ask(std::move(spec), asked));
        return asked;
    }
    std::shared_ptr<Asked> enqueue(const std::string& payload) {
        return enqueue(JobSpec{.payload = {payload, false}});
    }
    void work() { queue_.handle({""}); }
    std::shared_ptr<bool> pause(bool paused) {
        auto ended = std::make_shared<bool>(false);
        scope_.spawn([](Queue& queue, bool stop, std::shared_ptr<bool> done) -> Task<void> {
            if (stop) co_await queue.pause();
            if (!stop) co_await queue.resume();
            *done = true;
        }(queue_, paused, ended));
        return ended;
    }
    void cancel(const std::string& key, std::set<std::string>& cancelled) {
        scope_.spawn(
            [](Queue& queue, std::string which, std::set<std::string>& done) -> Task<void> {
                auto found = co_await attempt(queue.cancel(which));
                if (found && found.value()) done.insert(which);
            }(queue_, key, cancelled));
    }
    /// Calls `then` when the queue is idle.
    void when_idle(std::function<void()> then) {
        scope_.spawn([](Queue& queue, std::function<void()> call) -> Task<void> {
            co_await queue.idle();
            call();
        }(queue_, std::move(then)));
    }
    /// Stops working. Calls `then` once the worker has left its slot.
    void leave(std::function<void()> then) {
        scope_.spawn([](Queue& queue, std::function<void()> call) -> Task<void> {
            co_await queue.leave();
            call();
        }(queue_, std::move(then)));
    }
    Queue& queue() { return queue_; }
    /// Steals the slot from its holder, and releases it.
    void steal(int slot) {
        scope_.spawn([](LockTable& locks, std::string name) -> Task<void> {
            const auto held = co_await locks.acquire(std::move(name), {.steal = true});
        }(locks_, "queue/q/" + std::to_string(slot)));
    }
    void close() {
        queues_.close();
        locks_.close();
    }
    Scope& scope() { return scope_; }

    std::vector<Notice> notices;
    std::vector<QueueEvent> events;
    JobInfo newest;                            // the job that began last in this page
    std::map<std::string, std::string> names;  // payloads by ids
    std::function<void(const std::string& id, const JobOutcome& outcome)> on_settled;
    std::function<void(const JobInfo& job, JobOutcome& outcome)> on_done;  // may change `outcome`

  private:
    Task<void> ask(JobSpec spec, std::shared_ptr<Asked> asked) {
        const auto payload = spec.payload.text;
        auto receipt = co_await attempt(queue_.enqueue(std::move(spec)));
        if (receipt) {
            asked->id = receipt.value().id;
            asked->joined = receipt.value().joined;
            judge_.accepted.insert(payload);
            names[asked->id] = payload;
        } else {
            asked->error = receipt.error().code();
        }
        asked->ended = true;
    }
    void begin(int run, const JobInfo& job) {
        newest = job;
        note();
        judge_.begin(this, run, job);
        if (work_.blocking) return end_job(run, job);
        scope_.spawn(do_job(run, job));
    }
    Task<void> do_job(int run, JobInfo job) {
        if (job.payload.text == "slow") {
            co_await world_.clock().sleep(1'000);
        } else if (work_.longest_ms > 0 && world_.random().bits() % work_.slow_one_in == 0) {
            co_await world_.clock().sleep(static_cast<double>(world_.random().bits() % 1000) *
                                          work_.longest_ms / 1000);
        } else {
            co_await world_.clock().end_of_turn();
        }
        end_job(run, job);
    }
    void end_job(int run, const JobInfo& job) {
        end(run);
        JobOutcome outcome;
        if (job.attempts < work_.failures) {
            outcome.kind = JobOutcome::Kind::failed;
            outcome.value.text = "failed " + job.payload.text;
        } else {
            outcome.value.text = "did " + job.payload.text;
            for (int i = 0; i < work_.effects; ++i) {
                outcome.next.push_back({.payload = job.payload, .kind = std::string(effect_kind)});
            }
        }
        if (on_done) on_done(job, outcome);
        queue_.finish(run, std::move(outcome));
    }
    void end(int run) {
        note();
        judge_.end(this, run);
    }
    /// Records a write of the scenario's state: the judge, and no platform object, knows which jobs
    /// run at the same time.
    void note() {
        world_.origin().recorder().note(lab::Object::scenario, 0, lab::AccessKind::write);
    }
    void settled(const std::string& id, const JobOutcome& outcome) {
        if (on_settled) on_settled(id, outcome);
        const auto found = names.find(id);
        if (found == names.end()) return;
        if (outcome.kind == JobOutcome::Kind::done) ++judge_.outcomes[found->second];
    }

    LabTab& world_;
    QueueJudge& judge_;
    Work work_;
    LockTable locks_;
    Queues queues_;
    Queue& queue_;
    Scope scope_;  // declared last: its coroutines use all members above
};

/// Returns whether the row of each key names the one job that has the key.
inline bool keys_lead_to_jobs(Origin& origin) {
    const auto& rows = origin.database().rows(Store::jobs);
    std::map<std::string, std::string> positions;  // of the jobs, by the rows of their keys
    for (const auto& [key, value] : rows) {
        if (!key.starts_with("q/r/") && !key.starts_with("q/w/")) continue;
        for (const auto& job : parse_jobs(value.text)) {
            if (job.key.empty()) continue;
            if (!positions.emplace("q/k/" + job.key, key.substr(2)).second) return false;
        }
    }
    std::map<std::string, std::string> named;
    for (const auto& [key, value] : rows) {
        if (key.starts_with("q/k/")) named[key] = value.text;
    }
    return named == positions;
}

class QueueScene {
  public:
    explicit QueueScene(std::uint64_t seed, QueueOptions of = {}, QueuePage::Work how = {},
                        std::unique_ptr<lab::Chooser> chooser = nullptr)
        : origin(Origin::Options{seed, static_cast<StorageModel>(seed % 3)}, std::move(chooser)),
          random(seed * 7919 + 1),
          options(of),
          work(how) {}

    struct Member {
        LabTab* tab;
        QueuePage* page;
    };
    Member open(Platform platform = {}) {
        auto& tab = origin.open_tab(platform);
        auto& page = tab.run<QueuePage>(tab, judge, options, work);
        members.push_back({&tab, &page});
        return members.back();
    }
    void steps(std::size_t count) {
        for (; count > 0 && origin.step(); --count) {
        }
    }
    template <typename Done>
    void until(Done done) {
        origin.run_until([&] { return done(); }, 30'000);
    }
    /// Steps until `time_ms` have passed by the origin's clock, also if no tab has a timer.
    void pass(double time_ms) {
        auto& clock = origin.clock();
        const auto until_ms = clock.now_ms() + time_ms;
        while (clock.now_ms() < until_ms) {
            if (!origin.step()) clock.jump(until_ms - clock.now_ms());
        }
    }
    /// Returns how many bytes of the quota the rows of queues take.
    [[nodiscard]] std::size_t bytes_kept() {
        std::size_t bytes = 0;
        for (const auto& [key, value] : origin.database().rows(Store::jobs)) {
            bytes += key.size() + value.text.size();
        }
        return bytes;
    }
    /// Returns how many jobs are stored under keys that begin with `part`, by payload: those of one
    /// kind (`r/kind/`), those that wait for a time (`w/`), or dead letters (`d/`).
    [[nodiscard]] std::map<std::string, int> stored(std::string_view part) {
        std::map<std::string, int> found;
        for (const auto& [key, value] : origin.database().rows(Store::jobs)) {
            if (!key.starts_with("q/" + std::string(part))) continue;
            for (const auto& job : parse_jobs(value.text)) ++found[job.payload.text];
        }
        return found;
    }
    [[nodiscard]] std::map<std::string, int> effects() { return stored("r/effect/"); }
    [[nodiscard]] std::map<std::string, int> dead() { return stored("d/"); }
    /// Whether no job of the default kind is left to run.
    [[nodiscard]] bool all_settled() { return stored("r//").empty() && stored("w/").empty(); }

    QueueJudge judge;  // outlives the pages
    Origin origin;
    lab::SeededRandom random;
    QueueOptions options;
    QueuePage::Work work;
    std::vector<Member> members;
};

}  // namespace tabacus::test
