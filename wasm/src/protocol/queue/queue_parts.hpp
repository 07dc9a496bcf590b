// Queue::Parts: the parts of one queue in one tab.
//
//   part          what it is for                                 its states are described in
//   status        what this tab knows of the queue's length      queue_status.hpp
//   runs          the jobs that the application has been given   work/job_runs.hpp
//   awaited       the jobs whose outcomes this tab waits for     outcomes/awaited_outcomes.hpp
//   idle          callers that wait for an empty queue           outcomes/idle_waiters.hpp
//   collector     fetches outcomes that other tabs have stored   outcomes/outcome_collector.hpp
//   signal        wakes workers                                  work/work_signal.hpp
//   unhandled     warns of jobs that no tab handles              outcomes/unhandled_jobs.hpp
//   news          passes on what this tab learns                 outcomes/queue_news.hpp
//   kinds         the kinds of jobs that this tab handles        work/handled_kinds.hpp
//   poller        reads the store where an event may be missing  outcomes/queue_poller.hpp
//   batches       requests to enqueue jobs                       outcomes/enqueue_batches.hpp
//   control       changes of callers to the queue and its jobs   queue_control.hpp
//   lists         the jobs of the queue                          (none: job_lists.hpp)
//   workers       a worker for each slot                         work/queue_workers.hpp
//
// A part refers to parts above it only.
#pragma once

#include "job_lists.hpp"
#include "outcomes/enqueue_batches.hpp"
#include "queue_control.hpp"
#include "work/queue_workers.hpp"

namespace tabacus {

struct Queue::Parts {
    explicit Parts(OpenQueue of) : open(std::move(of)) {}

    OpenQueue open;
    QueueStatus status;
    JobRuns runs{open.callbacks};
    AwaitedOutcomes awaited{open};
    IdleWaiters idle{status, runs};
    OutcomeCollector collector{open, awaited, idle};
    WorkSignal signal{open.context};
    UnhandledJobs unhandled{open};
    QueueNews news{{open, status, awaited, collector, idle, runs, signal, unhandled}};
    HandledKinds kinds{open};
    QueuePoller poller{{open, status, awaited, collector, idle, news, signal, kinds}};
    EnqueueBatches batches{open, awaited, poller, news, unhandled};
    QueueControl control{open, status, awaited, poller, news};
    JobLists lists{open, status, news};
    QueueWorkers workers{{open, status, awaited, runs, signal, news, kinds, poller}};
};

}  // namespace tabacus
