// shrink: simplifies a failing schedule as far as it still fails.
//
// It applies delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
// Input", 2002) to the choices of a schedule. It replaces chunks of choices, then single ones, by
// the default (which removes a preemption or a fault), or removes them, as long as the run fails. A
// schedule is simpler if it has fewer faults and preemptions, or the same number and fewer steps.
#pragma once

#include "schedule.hpp"

namespace tabacus::lab {

/// Returns the simplest failing outcome that it finds. Requires that `failing` is a failing outcome
/// of the program. Runs the program at most `runs_max` times.
Outcome shrink(const Program& program, const Outcome& failing, std::uint64_t runs_max = 20'000);

}  // namespace tabacus::lab
