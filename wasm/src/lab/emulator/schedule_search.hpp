// ScheduleSearch: a search of the schedules of an emulated origin, for JavaScript.
#pragma once

#include <cstdint>

#include "lab/explore/search.hpp"

namespace tabacus::lab {

/// A search of all schedules with at most `steps_max` steps. Without `reduces` it also runs those
/// that differ only in the order of steps that commute.
class ScheduleSearch : public Search {
  public:
    ScheduleSearch(std::uint32_t steps_max, bool reduces)
        : Search(Bound{.steps = steps_max, .reduction = reduces}) {}
    [[nodiscard]] double planned_runs() const { return static_cast<double>(planned()); }
    // embind binds no members of a base.
    bool begin() { return begin_run(); }
    [[nodiscard]] bool ran_all() const { return exhausted(); }
    [[nodiscard]] bool differs() const { return diverged(); }
    [[nodiscard]] bool cut() const { return counts().cut > 0; }
};

}  // namespace tabacus::lab
