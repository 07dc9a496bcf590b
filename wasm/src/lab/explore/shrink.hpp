// Shrink: the simplest schedule that still fails.
//
// Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input",
// 2002) over a schedule's choices: first chunks of them, then single ones, become the default (a
// preemption or a fault less), or vanish, as long as the run still fails. Simpler means: fewer
// faults and preemptions, and of equals the shorter run.
#pragma once

#include "schedule.hpp"

namespace tabacus::lab {

/// `failing` is an outcome of the program's that has a failure. Runs it at most `runs_max` times.
Outcome shrink(const Program& program, const Outcome& failing, std::uint64_t runs_max = 20'000);

}  // namespace tabacus::lab
