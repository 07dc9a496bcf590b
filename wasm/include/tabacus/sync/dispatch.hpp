#pragma once

#include <cstdint>

#include "tabacus/sync/arena.hpp"

// Calls of a counter in an arena, where its kind is known only at run time.

namespace tabacus::sync {

inline Caller caller_of(const Agent& agent) {
    return {agent.id.load(std::memory_order_relaxed), agent.may_sleep != 0};
}

/// Adds `n` and returns the total. Requires that `counter` is a counter of that kind.
inline Added add_to(Kind kind, void* counter, Caller caller, std::int64_t n, Limit limit) {
    switch (kind) {
        case Kind::atomic:
            return static_cast<AtomicCounter*>(counter)->add(n, limit);
        case Kind::mutexed:
            return static_cast<MutexedCounter*>(counter)->add(n, caller, limit);
        case Kind::striped:
            return static_cast<StripedCounter*>(counter)->add(n, caller, limit);
        default:
            return static_cast<UnsynchronisedCounter*>(counter)->add(n, limit);
    }
}

/// Adds `n` as add_to() does, and returns no total. This is faster for a striped counter only.
inline Outcome bump_in(Kind kind, void* counter, Caller caller, std::int64_t n, Limit limit) {
    if (kind == Kind::striped) {
        return static_cast<StripedCounter*>(counter)->bump(n, caller, limit);
    }
    return add_to(kind, counter, caller, n, limit).outcome;
}

inline std::int64_t value_of(Kind kind, const void* counter) {
    switch (kind) {
        case Kind::atomic:
            return static_cast<const AtomicCounter*>(counter)->value();
        case Kind::mutexed:
            return static_cast<const MutexedCounter*>(counter)->value();
        case Kind::striped:
            return static_cast<const StripedCounter*>(counter)->value();
        default:
            return static_cast<const UnsynchronisedCounter*>(counter)->value();
    }
}

/// Whether `n` is an integer within ±(2^53−1), as Number.isSafeInteger() decides.
inline bool is_safe_integer(double n) {
    return __builtin_trunc(n) == n && __builtin_fabs(n) <= static_cast<double>(number_limit.most);
}

/// Returns the value as a number; NaN if a number cannot hold it exactly.
inline double as_number(std::int64_t value) {
    return number_limit.allows(value) ? static_cast<double>(value) : __builtin_nan("");
}

}  // namespace tabacus::sync
