// A run as one line: what was explored and by which choices, to be pasted into a bug report.
//
//   tabacus-1-<base64url of: parameters, schedule, checksum>
//
// A reader gets exactly the run that was written, or nothing: other versions, unknown
// names, numbers out of range, more than one spelling of the same run and damaged texts are
// refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lab/explore/counting_scenario.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/schedule.hpp"

namespace tabacus::lab {

/// All that a counting scenario is made of.
struct CountingSetup {
    std::string strategy;  // as hosts_of() knows it
    StorageModel model = StorageModel::mutexed;
    CountingScenario counting{};
    Faults faults;
    std::uint32_t faults_max = 0;
};

/// The most of each that a setup may have.
constexpr std::uint32_t tabs_limit = 64;
constexpr std::uint32_t adds_limit = 1'000;
constexpr std::uint32_t faults_limit = 64;
constexpr std::size_t schedule_limit = 1U << 20U;

struct SeedText {
    CountingSetup setup;
    Schedule schedule;
};

std::string format_seed(const SeedText& seed);
std::optional<SeedText> parse_seed(std::string_view text);

}  // namespace tabacus::lab
