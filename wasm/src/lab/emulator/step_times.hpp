// StepTimes: the virtual time of each step of an emulated origin.
//
// A step takes no virtual time. So a tab that asks for a lock again and again would stop the clock.
// Therefore a long chain of events, each of which began the next, counts as if time passed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tabacus::lab {

class StepTimes {
  public:
    /// Forgets everything. All earlier steps count as steps of this time.
    void restart(double now_ms) { steps_.assign(1, {0, now_ms, 0}); }
    /// Notes a step that lets time pass.
    void pass(std::uint32_t step, double now_ms) { steps_.push_back({step, now_ms, 0}); }
    /// Notes a step that performs an event, which the step `cause` posted.
    void perform(std::uint32_t step, std::uint32_t cause) {
        const auto now_ms = steps_.back().now_ms;
        const auto& before = find(cause);
        const auto chained = before.now_ms == now_ms ? before.chained + 1 : 0;
        steps_.push_back({step, now_ms, chained});
    }
    /// Returns the time of a step. Requires restart().
    [[nodiscard]] double at(std::uint32_t step) const {
        // An exchange of messages without a timer is shorter. A tab that polls makes longer chains.
        constexpr std::uint32_t chained_max = 100;
        const auto& found = find(step);
        return found.now_ms + (std::max(found.chained, chained_max) - chained_max);
    }

  private:
    struct Step {
        std::uint32_t number;
        double now_ms;
        std::uint32_t chained;  // the length of the chain of events at this time that led to it
    };
    /// Returns the latest noted step that is not after this one.
    [[nodiscard]] const Step& find(std::uint32_t number) const {
        const auto later =
            std::partition_point(steps_.begin(), steps_.end(),
                                 [number](const Step& step) { return step.number <= number; });
        return *std::prev(later);
    }

    std::vector<Step> steps_;
};

}  // namespace tabacus::lab
