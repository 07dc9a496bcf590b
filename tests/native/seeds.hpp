// The number of runs that a test makes.
#pragma once

#include <cstdint>

namespace tabacus::test {

/// Whether a sanitizer checks this program. Everything takes ten times as long then, and the first
/// runs show what a sanitizer finds. The release build makes the other runs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// The number of schedules under which a safety property is tested.
inline constexpr std::uint64_t seeds = sanitized ? 24 : 300;
/// The number of schedules of a test whose runs are long.
inline constexpr std::uint64_t few_seeds = sanitized ? 8 : 100;

/// Returns how often threads repeat what they do at the same time: `count` times, or a tenth of
/// that under a sanitizer.
constexpr int repeated(int count) { return sanitized ? count / 10 : count; }

}  // namespace tabacus::test
