#include "tabacus/limit/rate_clock.hpp"

#include <algorithm>
#include <cmath>

namespace tabacus {

void RateClock::begin(std::int64_t at) {
    const auto offset_ms = static_cast<double>(at) - clock_.monotonic_ms();
    offsets_ = Offsets{offset_ms, offset_ms};
}

void RateClock::join(std::int64_t at, std::int64_t ahead, double asked_ms) {
    const auto written = static_cast<double>(at);
    offsets_ =
        Offsets{written - clock_.monotonic_ms(), written + static_cast<double>(ahead) - asked_ms};
}

std::int64_t RateClock::now() const {
    return static_cast<std::int64_t>(std::floor(clock_.monotonic_ms() + offsets_->low_ms));
}

std::int64_t RateClock::ahead() const {
    return static_cast<std::int64_t>(std::ceil(offsets_->high_ms - offsets_->low_ms)) + 1;
}

void RateClock::see(std::int64_t at) {
    const auto low_ms = static_cast<double>(at) - clock_.monotonic_ms();
    offsets_->low_ms = std::max(offsets_->low_ms, low_ms);
    offsets_->high_ms = std::max(offsets_->high_ms, offsets_->low_ms);
}

}  // namespace tabacus
