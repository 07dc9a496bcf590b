// Schedule: which choice was taken at each step. After its last entry the default choice is taken,
// but no fault, so that most schedules are short.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "run.hpp"

namespace tabacus::lab {

using Schedule = std::vector<std::uint32_t>;

struct Outcome {
    std::string failure;  // empty: nothing was wrong
    Schedule schedule;    // as it was run, up to its last departure from the default
    std::uint64_t steps = 0;
    std::uint64_t hash = 0;  // of the choices' processes, in order: equal for equal runs
    bool cut = false;        // it was longer than steps_max
};

/// A run as long as an honest one can be, and a runaway is not mistaken for it.
constexpr std::uint64_t steps_max_default = 20'000;

/// Runs by `schedule`; an entry that is no choice stands for the default. Ends where only faults
/// could happen, unless the schedule asks for one.
Outcome replay(const Program& program, const Schedule& schedule,
               std::uint64_t steps_max = steps_max_default);

struct Step {
    std::uint64_t process = 0;
    bool fault = false;
    std::vector<TraceLine> lines;
};
struct Trace {
    std::vector<Step> steps;
    std::string failure;
};

/// Runs by `choose(choices, step)`: an index of `choices`, or their number to end the run there.
using Choose = std::function<std::size_t(const std::vector<Choice>& choices, std::uint64_t step)>;
Outcome run_by(const Program& program, std::uint64_t steps_max, const Choose& choose);

/// Runs the schedule, and keeps its trace.
Trace trace_of(const Program& program, const Schedule& schedule,
               std::uint64_t steps_max = steps_max_default);

/// Takes a step and returns what is wrong, also if it threw: a program that throws is broken.
std::string take_guarded(Run& run, std::size_t index, Footprint* footprint, Run::Taken* taken);
std::string finish_guarded(Run& run);

}  // namespace tabacus::lab
