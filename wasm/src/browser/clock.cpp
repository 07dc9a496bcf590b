#include "browser/clock.hpp"

namespace tabacus::browser {

double BrowserClock::now_ms() const {
    return host_.call<double>("now");
}

Async<Unit> BrowserClock::sleep(double delay_ms) {
    const Completer<Unit> completer;
    host_.call<void>("sleep", operations_.begin(completer, read_unit), delay_ms);
    return completer.async();
}

Async<Unit> BrowserClock::end_of_turn() {
    const Completer<Unit> completer;
    host_.call<void>("endOfTurn", operations_.begin(completer, read_unit));
    return completer.async();
}

std::uint64_t BrowserRandom::bits() {
    // A JavaScript number holds 32 random bits exactly, and not 64.
    const std::uint64_t high = host_.call<std::uint32_t>("random32");
    return high << 32 | host_.call<std::uint32_t>("random32");
}

}  // namespace tabacus::browser
