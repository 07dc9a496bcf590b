#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/parker.hpp"

namespace tabacus::sync {

/// One 64-bit cell that all threads add to atomically. Exact; reads never wait and are
/// linearizable.
///
/// The add is a compare-exchange and not a fetch_add. A fetch_add cannot be refused: it would have
/// to be guarded by a load ("far enough from the limit"), and between that load and the add another
/// thread may bring the counter to its limit with one large add. However wide the margin, the total
/// would leave its limit and others would see it. Alone on the cell the two cost the same;
/// bench/threads measures the cost under contention.
template <class Parks = PlatformParker>
class BasicAtomicCounter {
  public:
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
