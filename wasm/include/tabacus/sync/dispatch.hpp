#pragma once

#include <cstdint>

#include "tabacus/sync/arena.hpp"

// From a kind that is known at run time to the counter of that kind: what a name in an arena needs.

namespace tabacus::sync {

inline Caller caller_of(const Agent& agent) { return {agent.id, agent.may_sleep != 0}; }

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

/// As add_to, without the value: only a striped counter is faster that way.
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

inline bool is_safe_integer(double n) {
    return __builtin_trunc(n) == n && __builtin_fabs(n) <= static_cast<double>(number_limit.most);
}

inline double as_number(std::int64_t value) {
    return number_limit.allows(value) ? static_cast<double>(value) : __builtin_nan("");
}

}  // namespace tabacus::sync
