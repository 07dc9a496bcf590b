// WorkSignal: wakes the workers of this tab that have found nothing to do.
//
//   state of a worker   meaning                            what ends the state
//   searching           it looks for jobs, and remembers   it finds none, and count() has not
//                       count() of its beginning           changed: asleep
//   asleep              there was nothing to do            wake(): searching
//
// count() rises whenever there may be something to do. A worker that was woken while it searched
// sees another count, and searches once more. A worker that runs jobs which it has claimed ahead is
// *interrupted* if another job may come before them. A job that another worker gave back does not
// interrupt it: otherwise the workers of a queue would make each other give back jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/queue/queue_context.hpp"

namespace tabacus {

class WorkSignal {
  public:
    explicit WorkSignal(QueueContext& context) : context_(context) {}

    /// Wakes the workers, because there may be something to do. `interrupts`: whether it may come
    /// before the jobs that are claimed ahead.
    void wake(bool interrupts = true) {
        ++count_;
        if (interrupts) ++interruptions_;
        for (const auto& worker : std::exchange(asleep_, {})) worker.complete({});
    }
    /// Drops the times that were given to wake_at(), because another clock is in force.
    void clock_changed() {
        wake_at_ms_.reset();
        wake();
    }
    /// Wakes the workers at that time of QueueContext::steady_ms(), unless they are woken before it
    /// anyway.
    void wake_at(double due_ms) {
        if (wake_at_ms_ && *wake_at_ms_ <= due_ms) return;
        wake_at_ms_ = due_ms;
        context_.scope.spawn(wait_until(due_ms));
    }
    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// Returns how often workers were interrupted.
    [[nodiscard]] std::uint64_t interruptions() const { return interruptions_; }
    /// Returns an operation that the next wake() completes.
    Async<Unit> next() {
        const Completer<Unit> worker;
        asleep_.push_back(worker);
        return worker.async();
    }

  private:
    Task<void> wait_until(double due_ms) {
        co_await context_.world.clock().sleep(std::max(due_ms - context_.steady_ms(), 1.0));
        if (wake_at_ms_ == due_ms) wake_at_ms_.reset();
        wake();
    }

    QueueContext& context_;
    std::vector<Completer<Unit>> asleep_;
    std::uint64_t count_ = 1;
    std::uint64_t interruptions_ = 0;
    std::optional<double> wake_at_ms_;
};

}  // namespace tabacus
