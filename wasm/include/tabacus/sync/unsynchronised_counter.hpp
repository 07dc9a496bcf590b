#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/parker.hpp"

namespace tabacus::sync {

/// A counter that reads, adds and writes without synchronisation. It is there to show lost updates:
/// if two threads read the same value, both write the same sum, and one increment is lost. It never
/// wraps around.
///
/// The load and the store are relaxed atomics. A plain variable would be undefined behaviour: the
/// compiler could keep it in a register for a whole loop, so that the result would depend on the
/// compiler, and ThreadSanitizer would rightly report a data race. The loss does not come from a
/// torn or stale access. It comes from the writes of other threads between the load and the store,
/// which this counter does not prevent.
template <class Parks = PlatformParker>
class BasicUnsynchronisedCounter {
  public:
    /// Adds `n` and returns the sum that was written. If the sum would leave the limit, returns
    /// out_of_range and changes nothing.
    Added add(std::int64_t n, Limit limit = int64_limit) {
        const Added next = checked_add(value_.load(std::memory_order_relaxed), n, limit);
        if (next.outcome == Outcome::added) value_.store(next.value, std::memory_order_relaxed);
        return next;
    }

    [[nodiscard]] std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

  private:
    Parks::template Atomic<std::int64_t> value_{0};
};

using UnsynchronisedCounter = BasicUnsynchronisedCounter<>;

}  // namespace tabacus::sync
