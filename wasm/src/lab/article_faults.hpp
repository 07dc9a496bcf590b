// The faults in the code of the original articles, each as a variant of a strategy. They are for
// the laboratory and the tests; no tab can use them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "protocol/strategy/stored_counter.hpp"

namespace tabacus::lab {

enum class ArticleFault : std::uint8_t {
    /// lamport: `setTimeout(retry(), ms)` calls retry() at once and not after the delay.
    retry_called,
    /// lamport: the time at which a tab was opened is used as the time at which it locked. The lock
    /// of a tab that is older than `forceAfter` is therefore stolen at once.
    birth_as_age,
    /// eventual: repeated news is written as an equal value, and such a write fires no event.
    equal_writes,
    /// eventual: `if (!baseline)` takes a baseline of zero for a missing one, and ignores news.
    zero_is_no_baseline,
};

/// Makes the strategy with the fault, and otherwise with the defaults of the catalogue.
std::unique_ptr<StoredCounter> make_faulty(ArticleFault fault, CounterLocation location);

}  // namespace tabacus::lab
