// The additions of the catalogue's strategies.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tabacus/common/counter.hpp"

namespace tabacus {

/// Returns `value + n`. Requires that both lie within ±value_max. Fails with out_of_range if the
/// sum does not.
inline Async<std::int64_t> checked_add(std::int64_t value, std::int64_t n) {
    const auto sum = value + n;
    if (sum <= value_max && sum >= -value_max) return sum;
    return Async<std::int64_t>::failed(
        Error(ErrorCode::out_of_range, "the counter would leave ±(2^53 − 1)"));
}

/// Returns `a + b`, limited to ±2^61, far beyond ±value_max. A sum over any number of records of
/// unknown origin cannot overflow then.
inline std::int64_t bounded_add(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t bound = std::int64_t{1} << 61;
    return std::clamp(a + b, -bound, bound);
}

}  // namespace tabacus
