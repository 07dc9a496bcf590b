// What to explore, as text: a line "name=value" for each thing that is not left at its default.
//
//   strategy, model, tabs, adds, faults (names with commas between), fault-budget, preemptions,
//   seeds, first-seed, schedules, work
#pragma once

#include <string_view>

#include "lab/explore/explorer.hpp"

namespace tabacus::lab {

/// Fails with invalid_argument (tabacus::Error), naming the line, for what is no such text. What a
/// request may be is checked by Exploration.
ExploreRequest parse_request(std::string_view text);

}  // namespace tabacus::lab
