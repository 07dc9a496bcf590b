#include "lock_timers.hpp"

#include <algorithm>

namespace tabacus {

Task<void> sleep_for_answers(World& world, double delay_ms) {
    constexpr int timers = 5;
    for (int i = 0; i < timers; ++i) co_await world.clock().sleep(delay_ms / timers);
}

Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over) {
    auto& clock = world.clock();
    const auto end_ms = clock.monotonic_ms() + delay_ms;
    double left_ms = delay_ms;
    for (double step_ms = slice_ms;; step_ms *= 2) {
        co_await clock.sleep(std::min(left_ms, step_ms));
        if (*flag == over) co_return false;
        if (left_ms <= step_ms) co_return true;
        left_ms = end_ms - clock.monotonic_ms();
    }
}

}  // namespace tabacus
