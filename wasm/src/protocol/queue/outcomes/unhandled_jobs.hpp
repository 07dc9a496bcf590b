// UnhandledJobs: warns if jobs that this tab has enqueued are due, and no tab handles any job of the
// queue.
//
//   state      meaning                                   what ends the state
//   at rest    this tab has enqueued no job that stands  watch(): watching
//   watching   it reads the queue unhandled_ms after it  the queue is empty or closed: at rest
//              has enqueued a job, or after the first    a slot is at work, the queue is paused: at
//              job is due                                rest, with jobs
//                                                        jobs are due, and no job was begun or ended
//                                                        meanwhile: a warning, and at rest with jobs
//   at rest,   nothing more is reported                  on_work(): watching
//   with jobs
#pragma once

#include <cstdint>
#include <utility>

#include "../open_queue.hpp"

namespace tabacus {

class UnhandledJobs {
  public:
    explicit UnhandledJobs(OpenQueue& open) : open_(open) {}

    /// This tab has enqueued a job.
    void watch() {
        if (!std::exchange(watching_, true)) open_.context.scope.spawn(run());
    }
    /// A tab has done something for a job, or has resumed the queue.
    void on_work() {
        ++works_;
        if (std::exchange(jobs_left_, false)) watch();
    }

  private:
    Task<void> run();
    Task<double> read();

    OpenQueue& open_;
    bool watching_ = false;
    bool jobs_left_ = false;
    std::uint64_t works_ = 0;
};

}  // namespace tabacus
