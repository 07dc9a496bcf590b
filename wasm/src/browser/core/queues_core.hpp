// QueuesCore: the tab's queues, as JavaScript calls them. It identifies a queue by a number. Each
// result is passed to a promise.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "browser/core/counter_core.hpp"
#include "protocol/queue/claim_tracker.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus::browser {

class QueuesCore {
  public:
    QueuesCore(World& world, std::string_view name_space, LockTable& locks)
        : queues_(world, name_space, locks, notify) {}

    /// Opens a queue and returns its number, for the functions below and for calls of the host.
    int open(const std::string& name, const QueueOptions& options);
    void enqueue(int queue, JobSpec job, PromiseId promise) {
        settle(scope_, at(queue).enqueue(std::move(job)), promise);
    }
    void handle(int queue, std::vector<std::string> kinds) { at(queue).handle(std::move(kinds)); }
    void handle_all(int queue) { at(queue).handle_all(); }
    void stop(int queue) { at(queue).stop(); }
    void leave(int queue, PromiseId promise) { settle(scope_, at(queue).leave(), promise); }
    /// Ends a run. `next` are jobs that are enqueued in the transaction that settles the run's job.
    void finish(int queue, int run, const std::string& job, bool succeeded, QueueValue value,
                std::vector<JobSpec> next);
    void progress(int queue, int run, double fraction, const std::string& note) {
        at(queue).progress(run, fraction, note);
    }

    void pause(int queue, PromiseId promise) { settle(scope_, at(queue).pause(), promise); }
    void resume(int queue, PromiseId promise) { settle(scope_, at(queue).resume(), promise); }
    void idle(int queue, PromiseId promise) { settle(scope_, at(queue).idle(), promise); }
    void clear(int queue, PromiseId promise) { settle(scope_, at(queue).clear(), promise); }
    void cancel(int queue, const std::string& key, PromiseId promise) {
        settle(scope_, at(queue).cancel(key), promise);
    }
    void retry(int queue, const std::string& id, PromiseId promise) {
        settle(scope_, at(queue).retry(id), promise);
    }
    void discard(int queue, const std::string& id, PromiseId promise) {
        settle(scope_, at(queue).discard(id), promise);
    }
    void list(int queue, JobList which, JobRange range, PromiseId promise);
    /// Answers the state as the store has it. `returned`: events were lost, so that jobs which ran
    /// and do not run have ended.
    void state(int queue, bool returned, PromiseId promise);
    /// Reports what happens in the queue from here on, or does not.
    void set_reporting(int queue, bool reporting) {
        auto& opened = *opened_[static_cast<std::size_t>(queue)];
        opened.claims.set_reporting(reporting);
        opened.follow_jobs();
    }

    void online() { queues_.online(); }
    void close() { queues_.close(); }

  private:
    struct Opened {
        explicit Opened(int concurrency) : claims(concurrency) {}
        int number = 0;
        Queue* queue = nullptr;
        ClaimTracker claims;
        bool missed = false;  // events of other tabs may have named no jobs

        /// Decides whether events of other tabs must name their jobs: they must while this queue
        /// reports what happens, or keeps a value until its job is settled.
        void follow_jobs() {
            const bool follows = claims.reporting() || claims.keeps_values();
            missed = missed || !follows;
            queue->follow_jobs(follows);
        }
        /// Notifies JavaScript of what has happened.
        void report(std::vector<QueueReport> reports);
    };

    Queue& at(int queue) { return *opened_[static_cast<std::size_t>(queue)]->queue; }
    static QueueCallbacks callbacks_of(Opened& opened);
    static Task<void> refresh(Opened& opened, bool returned);

    std::vector<std::unique_ptr<Opened>> opened_;
    Queues queues_;
    Scope scope_;
};

}  // namespace tabacus::browser
