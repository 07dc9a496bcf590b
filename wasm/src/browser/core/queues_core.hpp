// What JavaScript holds of queues: the tab's Queues, whose results settle promises of JavaScript's. Failures end here, as a code and a message.
#pragma once

#include <string>
#include <vector>

#include "browser/core/counter_core.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus::browser {

class QueuesCore {
  public:
    QueuesCore(World& world, std::string_view name_space, LockTable& locks)
        : queues_(world, name_space, locks, notify) {}

    /// Returns its number, by which the calls below and Call::queue_callback know it.
    int open(const std::string& name, const QueueOptions& options);
    /// Resolves with the job's id, whether it was joined, and the number of jobs.
    void enqueue(int queue, JobSpec spec, PromiseId promise);
    /// No texts: all kinds.
    void handle(int queue, const Texts& kinds);
    void stop(int queue) { at(queue).stop(); }
    void leave(int queue, PromiseId promise) { settle(scope_, at(queue).leave(), promise); }
    /// A job that the next finish() enqueues; one call for each, before it.
    void next(JobSpec spec) { next_.push_back(std::move(spec)); }
    void finish(int queue, int run, bool succeeded, QueueValue value);
    void progress(int queue, int run, double fraction, const std::string& note) {
        at(queue).progress(run, fraction, note);
    }

    void pause(int queue, PromiseId promise) { settle(scope_, at(queue).pause(), promise); }
    void resume(int queue, PromiseId promise) { settle(scope_, at(queue).resume(), promise); }
    void idle(int queue, PromiseId promise) { settle(scope_, at(queue).idle(), promise); }
    /// Resolves with the number of jobs, and whether it is paused.
    void count(int queue, PromiseId promise);
    void clear(int queue, PromiseId promise) { settle(scope_, at(queue).clear(), promise); }
    void cancel(int queue, const std::string& key, PromiseId promise);
    void end_dead_letter(int queue, const std::string& id, bool again, PromiseId promise);
    enum class View : int { jobs, running, dead_letters };
    /// Resolves with the fields of each job.
    void list(int queue, View view, PromiseId promise);

    void online() { queues_.online(); }
    void close() { queues_.close(); }

  private:
    Queue& at(int queue) { return *opened_[static_cast<std::size_t>(queue)]; }

    Queues queues_;
    std::vector<Queue*> opened_;
    std::vector<JobSpec> next_;
    Scope scope_;
};

}  // namespace tabacus::browser
