#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/thread_id.hpp"

namespace tabacus::sync {

/// Load, add and store inside a mutex. Exact; an add may wait for other adds.
///
/// The cell is a relaxed atomic although only the mutex's holder writes it: so a read needs no lock
/// (a page's main thread may read), and cannot be torn. Relaxed accesses cost what plain ones do.
template <class Parks = PlatformParker>
class BasicMutexedCounter {
  public:
    Added add(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        const Held held(mutex_, caller.id, caller.may_sleep);
        if (!held.acquired) return {Outcome::would_block, value()};
        const Added next = checked_add(value_.load(std::memory_order_relaxed), n, limit);
        if (next.outcome == Outcome::added) value_.store(next.value, std::memory_order_relaxed);
        return next;
    }

    [[nodiscard]] std::int64_t value() const { return value_.load(); }

  private:
    BasicMutex<Parks> mutex_;
    Parks::template Atomic<std::int64_t> value_{0};
};

using MutexedCounter = BasicMutexedCounter<>;

}  // namespace tabacus::sync
