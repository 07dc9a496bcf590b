// A timer that completes a Completer, for a wait that may also be ended earlier.
#pragma once

#include "tabacus/common/world.hpp"

namespace tabacus {

/// Completes `completer` after `delay_ms`.
inline Task<void> complete_after(Clock& clock, double delay_ms, Completer<Unit> completer) {
    co_await clock.sleep(delay_ms);
    completer.complete({});
}

}  // namespace tabacus
