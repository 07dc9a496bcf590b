// Exploration: explores a counter strategy under every schedule up to a bound, and beyond the bound
// by seeds, until the strategy is proved, is broken, or everything was tried. It is the façade of
// wasm/src/lab/explore for the matrix, the command line and the laboratory's page.
//
//   Exploration exploration({.setup = {.strategy = "naive", .model = StorageModel::cached}});
//   while (exploration.explore(10'000)) show(exploration.report());
//   show(exploration.report());
//
// It takes these stages, and ends at the first failure:
//   1. It explores every schedule without faults. If that takes too long, it explores every
//      schedule with at most n preemptions, for n = 0, 1, … up to `preemptions_max`, as long as the
//      next search can be expected to end. If that takes too long, it continues with every schedule
//      with at most n preemptions between tabs, and no others.
//   2. It does the same with one fault, then with two, up to the setup's number of faults. If the
//      search without a preemption bound was too long with fewer faults, it is not tried with more.
//      If every schedule was explored for each number of faults, the strategy is *proved* for these
//      tabs, adds and faults.
//   3. Otherwise it explores `seeds` seeded schedules.
// A search takes too long if it takes more than `schedules_max` runs or `work_max` steps. The
// number of steps is also limited by `unbounded_work_max` without a preemption bound, and by
// `preemptions_work_max` within a bound on all preemptions.
//
// A preemption is one of three steps: a step that takes the turn from a tab that could have gone
// on, also by ending a fault (a preemption between tabs); a step that is not the first of what a
// tab could do next; and time that passes while other events could happen. Faults are counted
// apart.
//
// Explorations are deterministic: equal requests make equal reports, except for `seconds`.
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
    open,                  // the exploration has not ended
    proved,                // the strategy is correct under every schedule of the setup
    broken,                // `seed` names a schedule that breaks the strategy
    unbroken_within_bound  // no schedule that `bound` describes breaks the strategy
};
std::string_view verdict_name(Verdict verdict);

/// The schedules that were exhausted with one number of faults.
struct ExploredLevel {
    bool all = false;                          // every schedule
    std::optional<std::uint32_t> preemptions;  // every schedule with at most so many preemptions
    std::optional<std::uint32_t> between;      // and with at most so many between tabs, no others
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
    std::uint64_t steps_max = 2'000;  // the longest schedule
    bool reduction = true;
    /// Makes the counters instead of the strategy that the setup names, for planted faults. A seed
    /// text does not record it.
    MakeHost make = nullptr;
    /// The level without faults of another exploration of the same setup, which ended unbroken.
    /// Runs without faults are not explored again then.
    std::optional<ExploredLevel> faultless = std::nullopt;
};

struct ExploreReport {
    CountingSetup setup;  // the setup of the request, or of the seed that is replayed
    Verdict verdict = Verdict::open;
    std::uint64_t schedules = 0;  // the number of complete runs in all stages
    std::uint64_t steps = 0;
    double seconds = 0;                 // the time in explore()
    bool exhausted = false;             // whether every schedule within a bound was explored
    std::string bound;                  // the bound, such as "every schedule without faults; …"
    std::vector<ExploredLevel> levels;  // by the number of faults
    FaultCounts faults{};               // the number of times that each fault happened
    std::string failure;                // broken: the failure, in one sentence
    std::string seed;                   // broken: the run, for replay_seed()
    std::string trace;                  // broken: the trace as text
    std::string svg;                    // broken: the trace as a sequence diagram
};

class Exploration {
  public:
    /// Throws invalid_argument (tabacus::Error) for an unknown strategy, for no tabs, and for
    /// numbers beyond the limits of seed_text.hpp.
    explicit Exploration(ExploreRequest request);
    ~Exploration();
    Exploration(const Exploration&) = delete;
    Exploration& operator=(const Exploration&) = delete;
    Exploration(Exploration&&) = delete;
    Exploration& operator=(Exploration&&) = delete;

    /// Explores up to `schedules` more runs. Returns false once the exploration has ended, so that
    /// the report is complete.
    bool explore(std::uint64_t schedules);
    [[nodiscard]] ExploreReport report() const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Repeats the run of a seed. Returns its trace, diagram and failure; if the run does not fail, the
/// failure is empty and the verdict `proved`. Returns nothing if the text is not a seed.
std::optional<ExploreReport> replay_seed(std::string_view text);

/// Returns the program of a setup. Its runs share only `fault_counts`, which may be null.
Program program_of(const CountingSetup& setup, const MakeHost& make, FaultCounts* fault_counts);

}  // namespace tabacus::lab
