// Exploration: a counter strategy under every schedule up to a bound, and beyond by seeds, until it
// is proved, broken, or there is nothing left to try. The façade of wasm/src/lab/explore, for the
// matrix, the command line and the laboratory's page.
//
//   Exploration exploration({.setup = {.strategy = "naive", .model = StorageModel::cached}});
//   while (exploration.explore(10'000)) show(exploration.report());
//   show(exploration.report());
//
// In this order, each begun when what is before it has ended without a failure:
//   1. runs without faults: every schedule. Where that takes too long, every one with at most
//      `preemptions_max` preemptions: first with none, then one, and so on, as long as the next
//      can be expected to end. Where that takes too long as well, every one with so many
//      preemptions between tabs alone, on from there;
//   2. the same with one fault, then with two, up to the setup's. What could not be exhausted with
//      fewer faults is not tried with more. If every schedule was explored in each of these, the
//      strategy is *proved* for these tabs, adds and faults;
//   3. if not, `seeds` seeded schedules.
// Too long is more than `schedules_max` runs or `work_max` steps, in each search; in one that is
// not within a preemption bound more than `unbounded_work_max`, and in one within a bound of all
// preemptions more than `preemptions_work_max`.
//
// A preemption is a step that takes the turn from a tab that could have gone on (a preemption
// between tabs; the end of a fault is one, too), or that is not the first of what a tab could do
// next, or time that passes while something else could happen. Faults are counted apart.
// Deterministic: equal requests make equal reports, but for `seconds`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "counting_scenario.hpp"
#include "lab/report/seed_text.hpp"
#include "search.hpp"

namespace tabacus::lab {

enum class Verdict : std::uint8_t {
    open,                  // it has not ended
    proved,                // under every schedule of the setup
    broken,                // `seed` names a schedule that breaks it
    unbroken_within_bound  // as far as `bound` says
};
std::string_view verdict_name(Verdict verdict);

/// How far runs with so many faults were exhausted.
struct ExploredLevel {
    bool all = false;
    std::optional<std::uint32_t> preemptions;  // if not all: those with at most so many
    std::optional<std::uint32_t> between;      // and those with at most so many between tabs alone
};

struct ExploreRequest {
    CountingSetup setup;
    std::uint64_t schedules_max = 1'000'000;
    std::uint64_t work_max = UINT64_MAX;
    std::uint64_t unbounded_work_max = UINT64_MAX;
    std::uint64_t preemptions_work_max = UINT64_MAX;
    std::uint32_t preemptions_max = 3;
    std::uint64_t seeds = 1'000'000;
    std::uint64_t first_seed = 1;
    std::uint64_t steps_max = 2'000;  // of one schedule
    bool reduction = true;
    /// Makes what is explored, in place of the strategy that the setup names: for planted faults. A
    /// seed text does not record it.
    MakeHost make = nullptr;
    /// How far runs without faults were exhausted by another exploration of the same, which ended
    /// unbroken: they are not explored again.
    std::optional<ExploredLevel> faultless = std::nullopt;
};

struct ExploreReport {
    CountingSetup setup;  // what is explored; of a replay: the seed's
    Verdict verdict = Verdict::open;
    std::uint64_t schedules = 0;  // complete runs, of all stages
    std::uint64_t steps = 0;
    double seconds = 0;      // of this processor's time, in explore()
    bool exhausted = false;  // every schedule within a bound was explored: `bound` says which
    std::string bound;       // "every schedule", "every schedule without faults; …"
    std::vector<ExploredLevel> levels;  // by the number of faults
    FaultCounts faults{};               // how often each happened
    std::string failure;                // broken: what was wrong, in one sentence
    std::string seed;                   // broken: the run, for replay_seed()
    std::string trace;                  // broken: a line per step
    std::string svg;                    // broken: the same as a sequence diagram
};

class Exploration {
  public:
    /// Fails with invalid_argument (tabacus::Error) for a strategy that is none, no tabs, or more
    /// of anything than the limits of seed_text.hpp.
    explicit Exploration(ExploreRequest request);
    ~Exploration();
    Exploration(const Exploration&) = delete;
    Exploration& operator=(const Exploration&) = delete;
    Exploration(Exploration&&) = delete;
    Exploration& operator=(Exploration&&) = delete;

    /// Explores up to `schedules` more. False when it has ended: the report is complete.
    bool explore(std::uint64_t schedules);
    [[nodiscard]] ExploreReport report() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// A run again, from its seed: trace, diagram and failure (empty, and `proved`, if it does not
/// break any more). Nothing for a text that is no seed.
std::optional<ExploreReport> replay_seed(std::string_view text);

/// The program of a setup. It shares nothing between runs but `fault_counts` (which may be null).
Program program_of(const CountingSetup& setup, const MakeHost& make, FaultCounts* fault_counts);

}  // namespace tabacus::lab
