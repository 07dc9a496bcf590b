// The times of a lock's queue, and sleeps that end when they are no longer of use.
#pragma once

#include <memory>

#include "tabacus/common/world.hpp"

namespace tabacus {

/// The grace period: an idle native hold is kept for one to two of these.
constexpr double grace_period_ms = 10;
/// The longest that a hold goes on granting while other tabs may be waiting.
constexpr double slice_ms = 50;

/// More microtasks than a browser runs between the end of a Web Lock's promise and the release.
constexpr int releasing_microtasks = 4;

/// Waits until the browser has been asked for all releases that this turn began.
inline Async<Unit> releases_under_way(Clock& clock) {
    return clock.after_microtasks(releasing_microtasks);
}
/// Sleeps for `delay_ms`, in which other tabs may answer, by several timers one after another. When
/// a page goes on after a pause, a timer that is due may run before the messages that came
/// meanwhile. The page receives these messages between the first timer and the last.
Task<void> sleep_for_answers(World& world, double delay_ms);
/// Returns true if `delay_ms` pass before `flag` has the value `over`. The sleep consists of timers
/// that double in length: a timer cannot be cancelled, and most waits end soon.
Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over);

}  // namespace tabacus
