// How the simple strategies add: within ±value_max, or not at all.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tabacus/common/counter.hpp"

namespace tabacus {

/// `value + n`. Both lie within ±value_max. Fails with out_of_range.
inline Async<std::int64_t> checked_add(std::int64_t value, std::int64_t n) {
    const auto sum = value + n;
    if (sum <= value_max && sum >= -value_max) return sum;
    return Async<std::int64_t>::failed(
        Error(ErrorCode::out_of_range, "the counter would leave ±(2^53 − 1)"));
}

/// `a + b` for sums over strangers' records, of which there may be any number: stays where it
/// cannot overflow, far beyond ±value_max.
inline std::int64_t bounded_add(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t bound = std::int64_t{1} << 61;
    return std::clamp(a + b, -bound, bound);
}

}  // namespace tabacus
