// SeedText: a run as one line of text, for a bug report. It consists of the setup and the choices.
//
//   tabacus-1-<base64url of: parameters, schedule, checksum>
//
// parse_seed() returns exactly the run that was written, or nothing. It refuses other versions,
// unknown names, numbers out of range, damaged texts, and a second spelling of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lab/explore/counting_scenario.hpp"
#include "lab/explore/scenario.hpp"
#include "lab/explore/schedule.hpp"

namespace tabacus::lab {

/// The setup of a counting scenario.
struct CountingSetup {
    std::string strategy;  // one of counting_strategies()
    StorageModel model = StorageModel::mutexed;
    CountingScenario counting{};
    Faults faults;
    std::uint32_t faults_max = 0;
};

// The limits of a setup.
constexpr std::uint32_t tabs_limit = 64;
constexpr std::uint32_t adds_limit = 1'000;
constexpr std::uint32_t faults_limit = 64;
constexpr std::size_t schedule_limit = 1U << 20U;

struct SeedText {
    CountingSetup setup;
    Schedule schedule;
};

std::string format_seed(const SeedText& seed);
/// Returns nothing if format_seed() does not write that text.
std::optional<SeedText> parse_seed(std::string_view text);

}  // namespace tabacus::lab
