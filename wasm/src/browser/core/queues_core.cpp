#include "browser/core/queues_core.hpp"

namespace tabacus::browser {

int QueuesCore::open(const std::string& name, const QueueOptions& options) {
    auto& opened = *opened_.emplace_back(std::make_unique<Opened>(options.concurrency));
    opened.number = static_cast<int>(opened_.size()) - 1;
    opened.queue = &queues_.queue(name, options, callbacks_of(opened));
    opened.follow_jobs();
    return opened.number;
}

QueueCallbacks QueuesCore::callbacks_of(Opened& opened) {
    QueueCallbacks callbacks;
    callbacks.run = [&opened](int run, const JobInfo& job) {
        host::queue_run(opened.number, run, job);
    };
    callbacks.lost = [&opened](int run, std::string_view reason) {
        host::queue_lost(opened.number, run, reason);
    };
    callbacks.settled = [&opened](const JobOutcomes& jobs) {
        opened.claims.settle(jobs);
        host::queue_settled(opened.number, jobs);
    };
    callbacks.event = [&opened](const QueueEvent& event) {
        opened.report(opened.claims.receive(event));
        opened.follow_jobs();
    };
    return callbacks;
}

void QueuesCore::Opened::report(std::vector<QueueReport> reports) {
    host::queue_event(number, QueueNotification{claims.size(), claims.take_unneeded_values(),
                                                std::move(reports)});
}

void QueuesCore::finish(int queue, int run, const std::string& job, bool succeeded,
                        QueueValue value, std::vector<JobSpec> next) {
    auto& opened = *opened_[static_cast<std::size_t>(queue)];
    for (const auto& spec : next) opened.claims.keep_value(job, spec.payload);
    opened.claims.keep_value(job, value);
    opened.follow_jobs();
    JobOutcome outcome;
    outcome.kind = succeeded ? JobOutcome::Kind::done : JobOutcome::Kind::failed;
    outcome.value = std::move(value);
    if (succeeded) outcome.next = std::move(next);
    opened.queue->finish(run, std::move(outcome));
}

void QueuesCore::state(int queue, bool returned, PromiseId promise) {
    auto& opened = *opened_[static_cast<std::size_t>(queue)];
    run_in(
        scope_, refresh(opened, returned),
        [promise, &opened] { Resolve{promise}(opened.claims.state()); }, Reject{promise});
}

Task<void> QueuesCore::refresh(Opened& opened, bool returned) {
    const bool missed = opened.claims.reporting() && std::exchange(opened.missed, false);
    const auto mark = returned || missed ? opened.claims.mark() : 0;
    const auto count = co_await opened.queue->read_count();
    opened.claims.learn(count, opened.queue->paused());
    opened.report({});
    opened.claims.refresh(co_await opened.queue->running(), mark);
}

void QueuesCore::list(int queue, JobList which, JobRange range, PromiseId promise) {
    auto& of = at(queue);
    settle(scope_,
           which == JobList::jobs ? of.jobs(std::move(range)) : of.dead_letters(std::move(range)),
           promise);
}

}  // namespace tabacus::browser
