#include "sampling.hpp"

#include "random_choices.hpp"

namespace tabacus::lab {
Outcome sample(const Program& program, std::uint64_t seed, const Sampling& sampling) {
    RandomChoices random(seed, sampling);
    return run_by(program, sampling.steps_max,
                  [&](const std::vector<Choice>& choices, std::uint64_t step) {
                      return random.choose(choices, step);
                  });
}

std::uint64_t hash_of_seeds(const Program& program, std::uint64_t first, std::uint64_t count,
                            const Sampling& sampling) {
    std::uint64_t hash = 0;
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        const auto outcome = sample(program, seed, sampling);
        hash = SeededRandom(hash ^ outcome.hash ^ outcome.steps).bits();
    }
    return hash;
}

std::uint64_t default_schedule_length(const Program& program, std::uint64_t steps_max) {
    return replay(program, {}, steps_max).steps;
}

}  // namespace tabacus::lab
