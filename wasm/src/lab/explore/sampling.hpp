// Sampling: random schedules, for programs that cannot be exhausted. A seed determines each one.
//
// Odd seeds are random walks. Even seeds are PCT: every process has a random priority, and the
// process with the highest priority that can go on takes the next step. At depth − 1 random steps,
// that process gets the lowest priority. A run of n steps with k processes finds a fault of that
// depth with a chance of at least 1/(k·n^(depth−1)) (Burckhardt, Kothari, Musuvathi, Nagarakatte:
// "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
#pragma once

#include <cstdint>

#include "schedule.hpp"

namespace tabacus::lab {

struct Sampling {
    std::uint32_t faults_max = 0;  // the most faults of a run; each seed has its own number
    std::uint64_t length = 100;    // the steps among which faults and changes of priority fall
    std::uint64_t steps_max = steps_max_default;
};

/// Runs the program with a seed's random choices. After twice the `length` every seed is a random
/// walk, in which every process gets its turn, so that the run ends.
Outcome sample(const Program& program, std::uint64_t seed, const Sampling& sampling);

/// Returns a hash of `count` runs. It is equal on all platforms where the seeds make the same runs.
std::uint64_t hash_of_seeds(const Program& program, std::uint64_t first, std::uint64_t count,
                            const Sampling& sampling);

/// Returns the number of steps of the default schedule.
std::uint64_t default_schedule_length(const Program& program,
                                      std::uint64_t steps_max = steps_max_default);

}  // namespace tabacus::lab
