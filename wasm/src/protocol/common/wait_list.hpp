// WaitList: coroutines that wait for the next occurrence of an event.
#pragma once

#include <list>

#include "protocol/common/taken.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class WaitList {
  public:
    /// Returns an operation that the next call of release_all() completes.
    [[gnu::noinline]] Async<Unit> wait() {
        const Completer<Unit> waiter;
        waiters_.push_back(waiter);
        return waiter.async();
    }

    /// Completes every wait that has begun before. A coroutine that waits again inside this call
    /// waits for the next one.
    void release_all() {
        for (const auto& waiter : taken(waiters_)) waiter.complete({});
    }

  private:
    std::list<Completer<Unit>> waiters_;
};

}  // namespace tabacus
