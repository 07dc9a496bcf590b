// Sampling: beyond what can be exhausted, random schedules, each of them a seed.
//
// Odd seeds are random walks. Even seeds are PCT: every process has a random priority, the highest
// that can go on goes, and at depth − 1 random steps it falls behind all others. A run of n steps
// among k processes finds a fault of that depth with a chance of at least 1/(k·n^(depth−1))
// (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A Randomized Scheduler with Probabilistic
// Guarantees of Finding Bugs", ASPLOS 2010).
#pragma once

#include <cstdint>

#include "schedule.hpp"

namespace tabacus::lab {

struct Sampling {
    std::uint32_t faults_max = 0;  // of a run; each seed has its own number up to that
    std::uint64_t length = 100;    // about how many steps a run has: where faults and changes fall
    std::uint64_t steps_max = steps_max_default;
};

/// One run by the seed's random choices. After twice the `length` every seed is a random walk, in
/// which every process gets its turn, so that the run comes to its end.
Outcome sample(const Program& program, std::uint64_t seed, const Sampling& sampling);

/// One number of so many runs: equal wherever the same seeds make the same runs.
std::uint64_t hash_of_seeds(const Program& program, std::uint64_t first, std::uint64_t count,
                            const Sampling& sampling);

/// Returns how many steps the default schedule has.
std::uint64_t default_schedule_length(const Program& program,
                                      std::uint64_t steps_max = steps_max_default);

}  // namespace tabacus::lab
