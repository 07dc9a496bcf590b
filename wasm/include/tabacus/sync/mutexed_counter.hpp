#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/thread_id.hpp"

namespace tabacus::sync {

/// A counter that loads, adds and stores inside a mutex.
///
/// Promises: exact; reads never wait. An add may wait for other adds.
///
/// The cell is an atomic although only the owner of the mutex writes it. So a read needs no lock,
/// which a page's main thread could not wait for, and cannot be torn. The accesses inside the mutex
/// are relaxed, and cost as much as plain ones.
///
/// A thread that dies inside an add leaves the cell either without the add or with all of it. So the
/// next thread has nothing to repair.
template <class Parks = PlatformParker>
class BasicMutexedCounter {
  public:
    /// Adds `n` and returns the total after the add. Changes nothing if it returns out_of_range, or
    /// would_block because the mutex is held and the caller may not sleep.
    Added add(std::int64_t n, Caller caller, Limit limit = int64_limit) {
        const Held held(mutex_, caller.id, caller.may_sleep);
        if (!held.acquired) return {Outcome::would_block, value()};
        const Added next = checked_add(value_.load(std::memory_order_relaxed), n, limit);
        if (next.outcome == Outcome::added) value_.store(next.value, std::memory_order_relaxed);
        return next;
    }

    [[nodiscard]] std::int64_t value() const { return value_.load(); }

    /// Notes that a thread has died. The next caller acquires the mutex if that thread held it.
    void owner_died(Owner dead) { mutex_.owner_died(dead); }

  private:
    BasicMutex<Parks> mutex_;
    Parks::template Atomic<std::int64_t> value_{0};
};

using MutexedCounter = BasicMutexedCounter<>;

}  // namespace tabacus::sync
