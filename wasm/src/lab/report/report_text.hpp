// The explorer's reports, as JSON (RFC 8259), for programs: the command line, the laboratory's
// page, scripts/matrix.js.
#pragma once

#include <string>
#include <string_view>

#include "lab/explore/explorer.hpp"
#include "matrix.hpp"

namespace tabacus::lab {

/// {"verdict", "schedules", "steps", "seconds", "exhausted", "bound", "faults", "failure",
/// "seed"}, and of a broken one "trace" and "svg".
std::string json_of(const ExploreReport& report);

/// {"strategy", "model", "fault", "explored", "declared", "verdict", "contradicts", "unfound",
/// "parts"}; a part has tabs, adds, faults, what was sought, and its report without trace and svg.
std::string json_of(const CellReport& report);

}  // namespace tabacus::lab
