// The outcomes of a litmus program that the laboratory's model of localStorage allows.
#pragma once

#include <set>
#include <string>

#include "lab/rules/storage_area.hpp"
#include "litmus_program.hpp"

namespace tabacus::test {

struct LitmusResult {
    std::set<std::string> outcomes;
    std::size_t schedules = 0;
    std::size_t redundant = 0;
};

/// Runs the program under one schedule of each class of equivalent ones, or without `reduce` under
/// every schedule. Throws std::logic_error if a run hangs.
LitmusResult explore_litmus(const LitmusProgram& program, lab::EqualWrites equal_writes,
                            bool reduce = true);

}  // namespace tabacus::test
