// UnhandledJobs: warns if jobs that this tab has enqueued are due, and no tab handles any job of
// the queue.
//
//   state      meaning                                   what ends the state
//   idle       no job of this tab waits in the queue     start(): checking
//   checking   it reads the queue unhandled_ms after     the queue is empty or closed: idle
//              this tab has enqueued a job, or after     a slot runs jobs, or the queue is paused:
//              the first job is due                      idle, with jobs
//                                                        jobs are due, and no job was begun or
//                                                        ended meanwhile: a warning, and idle, with
//                                                        jobs
//   idle,      nothing is reported                       on_work(): checking
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
