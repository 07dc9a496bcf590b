// Checks the hash of a state. The explorer takes states with equal hashes for equal. So from states
// with equal hashes, the same choices must lead to states with equal hashes and to the same ends.
// If the hash omits something, it is found when several walks reach a state in different ways and
// then differ. For example, the walks of explore_state.cpp find an omitted order of transactions,
// or of a lock's queue.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lab/digest.hpp"
#include "lab/explore/run.hpp"
#include "lab/seeded_random.hpp"

namespace tabacus::lab::test {

/// What all runs of a program have shown of each state. States have their hashes as keys.
struct Seen {
    std::map<std::uint64_t, std::vector<std::uint64_t>> choices;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> steps;
    std::map<std::uint64_t, std::string> ends;
    std::map<std::uint64_t, std::uint64_t> ways;  // the way by which a state was first reached
    std::uint64_t other_ways = 0;                 // how often a state was reached by another way
    std::uint64_t differs = 0;  // how often a state led to something else than before

    template <typename Map, typename Key, typename Value>
    void compare(Map& map, const Key& key, const Value& value) {
        const auto [found, fresh] = map.try_emplace(key, value);
        if (!fresh && found->second != value) ++differs;
    }
};

/// A run that compares each of its states, steps and ends with those of earlier runs.
class Compared final : public Run {
  public:
    Compared(std::unique_ptr<Run> run, Seen& seen) : run_(std::move(run)), seen_(seen) {}

    const std::vector<Choice>& choices() override {
        const auto& choices = run_->choices();
        std::vector<std::uint64_t> processes;
        processes.reserve(choices.size());
        for (const auto& choice : choices) processes.push_back(choice.process);
        // The order of the choices depends on which process took the last step, which is no part of
        // the state.
        std::sort(processes.begin(), processes.end());
        seen_.compare(seen_.choices, run_->state().value(), processes);
        return choices;
    }
    Taken take(std::size_t index, Footprint* footprint) override {
        const auto before = run_->state().value();
        const auto process = run_->choices().at(index).process;
        const auto taken = run_->take(index, footprint);
        const auto after = run_->state().value();
        seen_.compare(seen_.steps, std::pair(before, process), after);
        way_ = digest(way_, process);
        if (seen_.ways.try_emplace(after, way_).first->second != way_) ++seen_.other_ways;
        return taken;
    }
    void finish() override {
        const auto state = run_->state().value();
        run_->finish();
        seen_.compare(seen_.ends, state, run_->failure());
    }
    [[nodiscard]] const std::string& failure() const override { return none_; }

  private:
    std::unique_ptr<Run> run_;
    Seen& seen_;
    std::uint64_t way_ = 0;
    std::string none_;
};

/// Takes the steps of `base` in about their order, and a random step instead in `stray_percent` of
/// all cases. Returns the processes whose steps it took.
inline std::vector<std::uint64_t> walk(Run& run, std::vector<std::uint64_t> base,
                                       SeededRandom& random, std::size_t stray_percent) {
    constexpr std::size_t steps_max = 500;
    constexpr std::size_t ahead = 12;
    std::vector<std::uint64_t> taken;
    while (taken.size() < steps_max) {
        const auto& choices = run.choices();
        if (choices.empty()) {
            run.finish();
            break;
        }
        auto chosen = random.below(choices.size());
        if (random.below(100) >= stray_percent) {
            const auto end =
                base.begin() + static_cast<std::ptrdiff_t>(std::min(ahead, base.size()));
            const auto possible = [&](std::uint64_t process) {
                return std::find_if(choices.begin(), choices.end(), [&](const Choice& choice) {
                    return choice.process == process;
                });
            };
            const auto next = std::find_if(base.begin(), end, [&](std::uint64_t process) {
                return possible(process) != choices.end();
            });
            // If no step of `base` is possible, the walk takes the default choice.
            chosen = next == end ? 0 : static_cast<std::size_t>(possible(*next) - choices.begin());
        }
        taken.push_back(choices[chosen].process);
        const auto passed = std::find(base.begin(), base.end(), taken.back());
        if (passed != base.end()) base.erase(passed);
        run.take(chosen, nullptr);
        if (!run.failure().empty()) break;
    }
    return taken;
}

/// Makes a random walk and `neighbours` walks near it, which reach the same states by other ways.
/// Returns what they have shown.
inline Seen seen_by_neighbours(const Program& program, SeededRandom& random, int neighbours) {
    Seen seen;
    const auto fresh = [&] { return std::make_unique<Compared>(program(Tracing::off), seen); };
    const auto base = walk(*fresh(), {}, random, random.coin() ? 10 : 50);
    for (int i = 0; i < neighbours; ++i) {
        walk(*fresh(), base, random, random.coin() ? 3 : 20);
    }
    return seen;
}

}  // namespace tabacus::lab::test
