// UnhandledJobs: warns if jobs that this tab has enqueued are due, and no tab handles any job of
// the queue.
//
//   state      meaning                                   what ends the state
//   at rest    this tab has enqueued no job that stands  start(): checking
//   checking   it reads the queue unhandled_ms after it  the queue is empty or closed: at rest
//              has enqueued a job, or after the first    a slot is at work, the queue is paused: at
//              job is due                                rest, with jobs
//                                                        jobs are due, and no job was begun or ended
//                                                        meanwhile: a warning, and at rest with jobs
//   at rest,   nothing more is reported                  on_work(): checking
//   with jobs
#pragma once

#include <cstdint>
#include <utility>

#include "../open_queue.hpp"

namespace tabacus {

class UnhandledJobs {
  public:
    explicit UnhandledJobs(OpenQueue& open) : open_(open) {}

    /// Begins to check the queue, because this tab has enqueued a job.
    void start() {
        if (!std::exchange(checking_, true)) open_.context.scope.spawn(run());
    }
    /// Notes that a tab has done something for a job, or has resumed the queue.
    void on_work() {
        ++works_;
        if (std::exchange(jobs_left_, false)) start();
    }

  private:
    Task<void> run();
    Task<double> read();

    OpenQueue& open_;
    bool checking_ = false;
    bool jobs_left_ = false;
    std::uint64_t works_ = 0;
};

}  // namespace tabacus
