// The explorer's reports as JSON (RFC 8259), for the command line, the laboratory's page and
// scripts/matrix.js.
#pragma once

#include <string>
#include <string_view>

#include "lab/explore/explorer.hpp"
#include "matrix.hpp"

namespace tabacus::lab {

/// Returns an object with "verdict", "schedules", "steps", "seconds", "exhausted", "bound",
/// "failure", "seed", "request" and "faults". If there is a trace, also "trace" and "svg".
std::string json_of(const ExploreReport& report);

/// Returns an object with "strategy", "model", "fault", "explored", "declared", "verdict",
/// "contradicts", "unfound" and "parts". A part has the members of a report from "verdict" to
/// "seed", and "tabs", "adds", "faults" and "sought".
std::string json_of(const CellReport& report);

}  // namespace tabacus::lab
