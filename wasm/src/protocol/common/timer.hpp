// complete_after: a timer for a wait that may also end earlier.
#pragma once

#include "tabacus/common/world.hpp"

namespace tabacus {

/// Completes `completer` after `delay_ms`.
inline Task<void> complete_after(Clock& clock, double delay_ms, Completer<Unit> completer) {
    co_await clock.sleep(delay_ms);
    completer.complete({});
}

}  // namespace tabacus
