#include "wakefulness.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// How often a tab checks whether it is awake, and how late that check may be. No holder of a lock
/// is evicted sooner after its grant (lock_evictor.hpp).
constexpr double check_ms = 50;
constexpr double late_ms = 100;

}  // namespace

std::uint64_t Wakefulness::begin(double end_ms) {
    ++periods_;
    end_ms_ = std::max(end_ms_, end_ms);
    if (running_) {
        check();
    } else {
        seen_ms_ = clock_.now_ms();
        scope_.spawn(run());
    }
    return late_;
}

Task<void> Wakefulness::run() {
    running_ = true;
    while (periods_ > 0 && clock_.monotonic_ms() < end_ms_) {
        co_await clock_.sleep(check_ms);
        if (!check()) break;
    }
    running_ = false;
    end_ms_ = 0;
}

bool Wakefulness::check() {
    const bool on_time = in_time();
    if (!on_time) ++late_;
    seen_ms_ = clock_.now_ms();
    return on_time;
}

bool Wakefulness::in_time() const {
    const auto age_ms = clock_.now_ms() - seen_ms_;
    return age_ms >= 0 && age_ms <= late_ms;  // negative: the clock was set back
}

}  // namespace tabacus
