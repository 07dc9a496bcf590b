#pragma once

#include <chrono>
#include <cstdint>

// The deadlines of waits of C++ threads. Durations and time points of any type are valid, up to the
// largest and down to the smallest, as callers pass hours::max() and time_point::max(). Only NaN is
// not.

namespace tabacus {

/// The longest wait with a deadline. A later deadline might not be representable.
constexpr std::chrono::hours century(24 * 36'525);

/// Returns the current time in nanoseconds, of the clock of deadlines.
inline std::int64_t steady_now_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

/// Returns a timeout in nanoseconds, cut to the range from 0 to a century.
template <class Rep, class Period>
std::int64_t wait_ns(std::chrono::duration<Rep, Period> timeout) {
    using std::chrono::nanoseconds;
    if (timeout < timeout.zero()) return 0;
    if (std::chrono::duration<double>(timeout) > century) return nanoseconds(century).count();
    return std::chrono::duration_cast<nanoseconds>(timeout).count();
}

/// Returns the end of a wait that begins now. It is at most a century from now, so it is never
/// sync::forever_ns, which stands for no deadline.
template <class Rep, class Period>
std::int64_t deadline_after(std::chrono::duration<Rep, Period> timeout) {
    return steady_now_ns() + wait_ns(timeout);
}

/// Returns how long it is until the deadline, within a century before and after now. The result is
/// rounded up to the clock's unit, so that a wait does not end before its deadline.
template <class Clock, class Duration>
Clock::duration time_until(std::chrono::time_point<Clock, Duration> deadline) {
    using Seconds = std::chrono::duration<double>;
    using Unit = Clock::duration;
    const auto now = Clock::now();
    const Seconds rest = Seconds(deadline.time_since_epoch()) - Seconds(now.time_since_epoch());
    if (rest > century) return std::chrono::ceil<Unit>(century);
    if (rest < -century) return -std::chrono::ceil<Unit>(century);
    return std::chrono::ceil<Unit>(deadline) - now;
}

}  // namespace tabacus
