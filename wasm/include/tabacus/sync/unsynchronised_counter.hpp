#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/checked.hpp"
#include "tabacus/sync/parker.hpp"

namespace tabacus::sync {

/// The lesson: read, add one, write. Two threads that read the same value both write the same sum,
/// and one increment is lost. Never wraps and never invents a value; loses updates, and is for
/// showing that it does.
///
/// The load and the store are relaxed atomics. A plain variable would be undefined behaviour: the
/// compiler may keep it in a register for a whole loop, the lesson would hang on its mood, and
/// ThreadSanitizer would rightly stop the program. What makes this counter wrong is not a torn or a
/// stale access but what happens between two good ones, and that is left exactly as it is.
template <class Parks = PlatformParker>
class BasicUnsynchronisedCounter {
  public:
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
