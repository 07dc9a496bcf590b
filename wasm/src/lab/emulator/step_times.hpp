// StepTimes: the virtual time at which each step of an emulated origin began.
//
// Time passes in few steps, so only those are kept. Requires restart() before any other call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tabacus::lab {

class StepTimes {
  public:
    /// Forgets everything. All earlier steps count as steps of this time.
    void restart(double now_ms) { changes_.assign(1, {0, now_ms}); }
    /// Notes that the time is `now_ms` from the step with this number on. Steps never decrease.
    void note(std::uint32_t step, double now_ms) {
        if (changes_.back().now_ms != now_ms) changes_.push_back({step, now_ms});
    }
    /// Returns the time of a step.
    [[nodiscard]] double at(std::uint32_t step) const {
        const auto later =
            std::partition_point(changes_.begin(), changes_.end(),
                                 [step](const Change& change) { return change.step <= step; });
        return std::prev(later)->now_ms;
    }

  private:
    struct Change {
        std::uint32_t step;
        double now_ms;
    };
    std::vector<Change> changes_;
};

}  // namespace tabacus::lab
