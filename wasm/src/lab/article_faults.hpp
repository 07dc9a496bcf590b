// The faults that the original articles' code has, each as a variant of the strategy
// that it spoils. For the laboratory and the tests; no tab can get one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/strategy/stored_counter.hpp"

namespace tabacus::lab {

enum class ArticleFault : std::uint8_t {
    /// lamport: `setTimeout(retry(), ms)`: what was to happen after a delay happens at once.
    retry_called,
    /// lamport: the owner's birth is taken for the time it locked, so that the lock of a
    /// tab older than `forceAfter` is stolen at once.
    birth_as_age,
    /// eventual: the same news twice is the same value, and an equal write fires no event.
    equal_writes,
    /// eventual: `if (!baseline)`: a baseline of zero is taken for none, and news is ignored.
    zero_is_no_baseline,
};

/// The strategy with the fault, otherwise as the catalogue makes it by default.
std::unique_ptr<StoredCounter> make_faulty(ArticleFault fault, CounterLocation location);

}  // namespace tabacus::lab
