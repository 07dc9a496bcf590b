// What the laboratory's model of localStorage allows a litmus program to end with.
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

/// Under every schedule; or, without `reduce`, under all of them one by one.
LitmusResult explore_litmus(const LitmusProgram& program, lab::EqualWrites equal_writes,
                            bool reduce = true);

}  // namespace tabacus::test
