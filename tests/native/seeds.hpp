// How many schedules a test of a safety property tries.
#pragma once

#include <cstdint>

namespace tabacus::test {

inline constexpr std::uint64_t seeds = 300;
/// Where each run is long.
inline constexpr std::uint64_t few_seeds = 100;

}  // namespace tabacus::test
