#include "browser/core/queues_core.hpp"

namespace tabacus::browser {

int QueuesCore::open(const std::string& name, const QueueOptions& options) {
    const int number = static_cast<int>(opened_.size());
    QueueCallbacks callbacks;
    callbacks.run = [number](int run, const JobInfo& job) { host::queue_run(number, run, job); };
    callbacks.lost = [number](int run, std::string_view reason) {
        host::queue_lost(number, run, reason);
    };
    callbacks.settled = [number](const JobOutcomes& jobs) { host::queue_settled(number, jobs); };
    callbacks.event = [number](const QueueEvent& event) { host::queue_event(number, event); };
    opened_.push_back(&queues_.queue(name, options, std::move(callbacks)));
    return number;
}

void QueuesCore::finish(int queue, int run, bool succeeded, QueueValue value,
                        std::vector<JobSpec> next) {
    JobOutcome outcome;
    outcome.kind = succeeded ? JobOutcome::Kind::done : JobOutcome::Kind::failed;
    outcome.value = std::move(value);
    outcome.next = std::move(next);
    at(queue).finish(run, std::move(outcome));
}

void QueuesCore::count(int queue, PromiseId promise) {
    run_in(
        scope_, at(queue).read_count(),
        [promise, &of = at(queue)](std::int64_t count) {
            Resolve{promise}(QueueCount{count, of.paused()});
        },
        Reject{promise});
}

void QueuesCore::list(int queue, JobList which, PromiseId promise) {
    settle(scope_,
           which == JobList::jobs      ? at(queue).jobs()
           : which == JobList::running ? at(queue).running()
                                       : at(queue).dead_letters(),
           promise);
}

}  // namespace tabacus::browser
