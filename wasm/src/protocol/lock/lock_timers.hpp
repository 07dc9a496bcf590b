// The times of a lock's queue, and sleeps that end when they are no longer of use.
#pragma once

#include <memory>

#include "tabacus/common/world.hpp"

namespace tabacus {

/// The grace period: an idle native hold is kept for one to two of these.
constexpr double grace_period_ms = 10;
/// The longest that a hold goes on granting while other tabs may be waiting.
constexpr double slice_ms = 50;

/// More microtasks than are between the end of a lock's promise and its release.
constexpr int releasing_microtasks = 4;

/// Waits until the releases that this turn began are under way.
inline Async<Unit> releases_under_way(Clock& clock) {
    return clock.after_microtasks(releasing_microtasks);
}
/// Sleeps for `delay_ms`, during which other tabs may answer: by several timers one after another.
/// A page that was held up for longer finds its timers due before the messages that came meanwhile;
/// it receives those between the first timer and the last.
Task<void> sleep_for_answers(World& world, double delay_ms);
/// Returns true if `delay_ms` pass before `flag` becomes `over`. The sleep is made of timers that
/// double: most waits are over soon, and a timer cannot be cancelled.
Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over);

}  // namespace tabacus
