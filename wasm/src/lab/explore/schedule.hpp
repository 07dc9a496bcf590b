// Schedule: the choice that is taken at each step. After its last entry the default is taken, but
// no fault, so that most schedules are short.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "run.hpp"

namespace tabacus::lab {

using Schedule = std::vector<std::uint32_t>;

struct Outcome {
    std::string failure;  // empty if the run did not fail
    Schedule schedule;    // the choices that were taken, up to the last that is not the default
    std::uint64_t steps = 0;
    std::uint64_t hash = 0;  // of the processes of all choices, in order; equal for equal runs
    bool cut = false;        // whether the run is longer than steps_max
};

/// The number of steps after which a run is cut. Runs that end have fewer steps.
constexpr std::uint64_t steps_max_default = 20'000;

/// Runs the schedule. An entry that is not a choice stands for the default. Ends when only faults
/// could happen, unless the schedule has an entry for that step.
Outcome replay(const Program& program, const Schedule& schedule,
               std::uint64_t steps_max = steps_max_default);

struct Step {
    std::uint64_t process = 0;
    bool fault = false;
    std::vector<TraceLine> lines;
};
/// The names of tabs and workers that are not called by their number.
using TabNames = std::map<std::uint32_t, std::string>;
/// Returns the name of a tab in a trace: "tab 1" unless `names` has another one.
inline std::string name_of(const TabNames& names, std::uint32_t tab) {
    const auto found = names.find(tab);
    if (found != names.end()) return found->second;
    return tab == 0 ? "browser" : "tab " + std::to_string(tab);
}

struct Trace {
    std::vector<Step> steps;
    std::string failure;
    TabNames names = {};  // NOLINT(readability-redundant-member-init)
};

/// Runs the program with the choices of `choose(choices, step)`, which returns an index of
/// `choices`, or their number to end the run.
using Choose = std::function<std::size_t(const std::vector<Choice>& choices, std::uint64_t step)>;
Outcome run_by(const Program& program, std::uint64_t steps_max, const Choose& choose);

/// Runs the schedule, and returns its trace.
Trace trace_of(const Program& program, const Schedule& schedule,
               std::uint64_t steps_max = steps_max_default);

/// Takes a step and returns the run's failure. An exception is a failure, too.
std::string take_guarded(Run& run, std::size_t index, Footprint* footprint, Run::Taken* taken);
/// Calls finish() and returns the run's failure. An exception is a failure, too.
std::string finish_guarded(Run& run);

}  // namespace tabacus::lab
