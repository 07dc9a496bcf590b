#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/parker.hpp"

namespace tabacus::sync {

/// A counter in one 64-bit cell, to which all threads add atomically.
///
/// Promises: exact; reads never wait and are linearizable.
///
/// add() uses a compare-exchange and not a fetch_add, because a fetch_add cannot be refused. A load
/// before it could check that the total is far enough from the limit. But between that load and the
/// fetch_add, another thread may bring the counter to its limit with one large add, and other
/// threads would see a total beyond the limit. Without contention the two cost the same;
/// bench/threads measures the cost under contention.
template <class Parks = PlatformParker>
class BasicAtomicCounter {
  public:
    /// Adds `n` and returns the total after the add. If the total would leave the limit, returns
    /// out_of_range and changes nothing.
    Added add(std::int64_t n, Limit limit = int64_limit) {
        std::int64_t value = value_.load(std::memory_order_relaxed);
        for (;;) {
            const Added next = checked_add(value, n, limit);
            if (next.outcome != Outcome::added) return next;
            if (value_.compare_exchange_weak(value, next.value)) return next;
        }
    }

    [[nodiscard]] std::int64_t value() const { return value_.load(); }

  private:
    Parks::template Atomic<std::int64_t> value_{0};
};

using AtomicCounter = BasicAtomicCounter<>;

}  // namespace tabacus::sync
