#include "lock_stamps.hpp"

namespace tabacus {

double LockStamps::read_ms(const Clock& clock) { return now_ms_ = clock.now_ms(); }

double LockStamps::next_ms() {
    constexpr double step_ms = 0.002;  // is not lost by rounding to doubles or to microseconds
    constexpr double set_back_ms = 1'000;
    const bool repeats = now_ms_ <= last_ms_ && now_ms_ > last_ms_ - set_back_ms;
    return last_ms_ = repeats ? last_ms_ + step_ms : now_ms_;
}

}  // namespace tabacus
