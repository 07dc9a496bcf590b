// How much a test tries.
#pragma once

#include <cstdint>

namespace tabacus::test {

/// Under a sanitizer everything takes ten times as long, and what it watches for shows in the first
/// runs. The release build tries the others, with failures thrown.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
inline constexpr bool sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool sanitized = false;
#endif

/// Schedules of a safety property.
inline constexpr std::uint64_t seeds = sanitized ? 40 : 300;
/// Where each run is long.
inline constexpr std::uint64_t few_seeds = sanitized ? 12 : 100;

/// Repetitions of what threads do at once.
constexpr int repeated(int count) { return sanitized ? count / 10 : count; }

}  // namespace tabacus::test
