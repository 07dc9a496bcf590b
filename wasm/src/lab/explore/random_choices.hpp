// RandomChoices: the choices of a seed, step by step (sampling.hpp explains how they are made).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lab/seeded_random.hpp"
#include "sampling.hpp"

namespace tabacus::lab {

class RandomChoices {
  public:
    RandomChoices(std::uint64_t seed, const Sampling& sampling)
        : seed_(seed),
          random_(seed),
          by_priority_(seed % 2 == 0),
          length_(std::max<std::uint64_t>(sampling.length, 1)) {
        if (sampling.faults_max > 0) {
            for (auto faults = random_.below(sampling.faults_max + 1); faults > 0; --faults) {
                faults_at_.push_back(random_.below(static_cast<std::size_t>(length_)));
            }
        }
        for (std::uint32_t i = 1; i < depth; ++i)
            changes_at_.push_back(random_.below(static_cast<std::size_t>(length_)));
    }

    /// Returns the index of one of `choices`, or their number if only faults can happen and none is
    /// due.
    std::size_t choose(const std::vector<Choice>& choices, std::uint64_t step) {
        // Faults come last among the choices.
        std::size_t ordinary = choices.size();
        while (ordinary > 0 && choices[ordinary - 1].fault) --ordinary;
        if (ordinary < choices.size()) {
            const auto due = std::find_if(faults_at_.begin(), faults_at_.end(),
                                          [step](std::uint64_t at) { return at <= step; });
            if (due != faults_at_.end()) {
                faults_at_.erase(due);
                return ordinary + random_.below(choices.size() - ordinary);
            }
        }
        if (ordinary == 0) return choices.size();
        // A run by priorities may not end, because the process with the highest priority may poll
        // for ever for something that only another process can do.
        const bool late = step > 2 * length_;
        return by_priority_ && !late ? highest(choices, ordinary, step) : walk(ordinary);
    }

  private:
    static constexpr std::uint32_t depth = 4;

    /// Makes a step of a random walk. The last choice before the faults is often the clock, which
    /// is taken rarely: otherwise every timeout would expire.
    std::size_t walk(std::size_t ordinary) {
        constexpr std::size_t last_draws = 8;
        const auto index = random_.below(ordinary);
        if (index + 1 < ordinary || random_.below(last_draws) == 0) return index;
        return random_.below(ordinary);
    }

    std::size_t highest(const std::vector<Choice>& choices, std::size_t ordinary,
                        std::uint64_t step) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < ordinary; ++i) {
            if (priority(choices[i].process) > priority(choices[best].process)) best = i;
        }
        if (std::find(changes_at_.begin(), changes_at_.end(), step) != changes_at_.end()) {
            fallen_.push_back(choices[best].process);
        }
        return best;
    }
    [[nodiscard]] std::uint64_t priority(std::uint64_t process) const {
        const auto fallen = std::find(fallen_.rbegin(), fallen_.rend(), process);
        if (fallen != fallen_.rend()) {
            return static_cast<std::uint64_t>(fallen - fallen_.rbegin());  // the last one is lowest
        }
        return SeededRandom(seed_ ^ process).bits() | std::uint64_t{1} << 63U;
    }

    std::uint64_t seed_;
    SeededRandom random_;
    bool by_priority_;
    std::uint64_t length_;
    std::vector<std::uint64_t> faults_at_;
    std::vector<std::uint64_t> changes_at_;
    std::vector<std::uint64_t> fallen_;  // processes that lost their priority, in this order
};

}  // namespace tabacus::lab
