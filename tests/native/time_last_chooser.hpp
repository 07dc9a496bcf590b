// TimeLastChooser: schedules in which every message, grant and answer is faster than any timer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/origin.hpp"
#include "lab/seeded_random.hpp"

namespace tabacus::test {

/// Chooses the clock only when nothing else can happen, and all other choices at random. So
/// messages and grants are faster than any timer, as in a real browser that is not overloaded.
class TimeLastChooser final : public lab::Chooser {
  public:
    explicit TimeLastChooser(std::uint64_t seed) : random_(seed) {}
    std::size_t choose(const std::vector<lab::Source>& choices) override {
        const auto timely = static_cast<std::size_t>(std::count_if(
            choices.begin(), choices.end(),
            [](const auto& source) { return source.kind != lab::Source::Kind::clock; }));
        return timely == 0 ? 0 : random_.below(timely);  // the clock is the last of the choices
    }

  private:
    lab::SeededRandom random_;
};

}  // namespace tabacus::test
