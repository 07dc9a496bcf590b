#pragma once

#include <cstdint>

// Checked addition, which all shared counters use: totals are exact 64-bit integers, the caller
// names a limit, and an add that would leave the limit changes nothing.

namespace tabacus::sync {

enum class Outcome : std::uint32_t {
    added = 0,
    out_of_range = 1,  // the total would leave the limit; nothing was changed
    would_block =
        2,  // the counter's lock is held and the caller may not sleep; nothing was changed
};

/// The outcome of an add, and the counter's value: the value after the add, or if it was refused,
/// the value that was found.
struct Added {
    Outcome outcome;
    std::int64_t value;
};

/// The totals that a counter may have: from -most to most, or every 64-bit integer if `most` is the
/// largest one. The struct has one field, so that it is passed in a register, because attach.wasm
/// has no memory for constants. A striped counter requires a limit of at least `number_limit`.
struct Limit {
    std::int64_t most;

    [[nodiscard]] constexpr bool allows(std::int64_t value) const {
        return value <= most && (value >= -most || most == INT64_MAX);
    }
};

inline constexpr Limit int64_limit{INT64_MAX};

/// The integers that a number of JavaScript holds exactly, ±(2^53−1).
inline constexpr Limit number_limit{(std::int64_t{1} << 53) - 1};

/// Returns the outcome of adding `n` to `value`. `value` may lie outside the limit, because another
/// caller has a wider one. An add is then allowed only if the sum lies within the limit.
constexpr Added checked_add(std::int64_t value, std::int64_t n, Limit limit) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(value, n, &sum) || !limit.allows(sum)) {
        return {Outcome::out_of_range, value};
    }
    return {Outcome::added, sum};
}

}  // namespace tabacus::sync
