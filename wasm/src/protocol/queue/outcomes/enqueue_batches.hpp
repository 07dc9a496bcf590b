// EnqueueBatches: the requests to enqueue jobs, gathered so that those of one turn of the event
// loop share a transaction. The state is kept as AwaitedOutcomes::answers_pending().
//
//   state      meaning                                   what ends the state
//   idle       no request waits                          enqueue(): flushing
//   flushing   one transaction at a time takes up to     no request is left: idle
//              batch_max of the requests that wait
//
// Each request ends in one of three ways: it is accepted, it is refused by itself, or it fails
// together with its whole transaction.
#pragma once

#include <memory>
#include <vector>

#include "../job_intake.hpp"
#include "queue_poller.hpp"

namespace tabacus {

class EnqueueBatches {
  public:
    EnqueueBatches(OpenQueue& open, AwaitedOutcomes& awaited, QueuePoller& poller, QueueNews& news,
                   UnhandledJobs& unhandled)
        : open_(open), awaited_(awaited), poller_(poller), news_(news), unhandled_(unhandled) {}

    /// Does what Queue::enqueue() does.
    Task<JobReceipt> enqueue(JobSpec spec);
    /// Fails with closed the requests that no transaction has taken yet.
    void close();

  private:
    struct Request : QueueRequest {
        std::optional<Error> failure;  // of the whole transaction
        Completer<Unit> decided;
    };
    using Batch = std::vector<std::shared_ptr<Request>>;

    Task<void> flush();
    Task<void> commit(Batch batch);
    Task<void> write(const Batch& batch);

    OpenQueue& open_;
    AwaitedOutcomes& awaited_;
    QueuePoller& poller_;
    QueueNews& news_;
    UnhandledJobs& unhandled_;
    Batch waiting_;
};

}  // namespace tabacus
