#include "lock_stamps.hpp"

namespace tabacus {

double LockStamps::next_ms(const Clock& clock) {
    constexpr double step_ms = 0.002;  // is not lost by rounding to doubles or to microseconds
    constexpr double set_back_ms = 1'000;
    const auto now_ms = clock.now_ms();
    const bool repeats = now_ms <= last_ms_ && now_ms > last_ms_ - set_back_ms;
    return last_ms_ = repeats ? last_ms_ + step_ms : now_ms;
}

}  // namespace tabacus
