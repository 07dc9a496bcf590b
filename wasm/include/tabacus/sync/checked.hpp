#pragma once

#include <cstdint>

// What every shared counter agrees on: exact 64-bit integers, a limit that the caller names, and an
// add that would leave it changes nothing.

namespace tabacus::sync {

enum class Outcome : std::uint32_t {
    added = 0,
    out_of_range = 1,  // the total would leave the limit; nothing was changed
    would_block =
        2,  // the counter's lock is held and the caller may not sleep; nothing was changed
};

/// The outcome of an add, and the counter's value: after it, or the one that refused it.
struct Added {
    Outcome outcome;
    std::int64_t value;
};

/// The totals that a counter may have: -most … most, and all of 64 bits where `most` is the largest
/// integer. One field, so that it travels in a register: attach.wasm has no memory for constants. A
/// striped counter asks that no limit be narrower than `number_limit`.
struct Limit {
    std::int64_t most;

    [[nodiscard]] constexpr bool allows(std::int64_t value) const {
        return value <= most && (value >= -most || most == INT64_MAX);
    }
};

inline constexpr Limit int64_limit{INT64_MAX};

/// What JavaScript's numbers hold exactly: ±(2^53−1).
inline constexpr Limit number_limit{(std::int64_t{1} << 53) - 1};

/// What `value + n` comes to. `value` itself may lie outside the limit (a wider limit put it
/// there); then what leads back towards zero and into the limit is allowed.
constexpr Added checked_add(std::int64_t value, std::int64_t n, Limit limit) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(value, n, &sum) || !limit.allows(sum)) {
        return {Outcome::out_of_range, value};
    }
    return {Outcome::added, sum};
}

}  // namespace tabacus::sync
