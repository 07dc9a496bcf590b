// CountingScenario: the scenario of every counter strategy. Some tabs open, add one a few times
// each, and flush; then a newly opened tab reads.
//
// Judged: every tab that lives has finished; no acknowledged update is lost and none is counted
// twice: the value lies between what was acknowledged and what was attempted, and is exactly that
// when nothing was refused and nobody died.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "lab/lab_tab.hpp"
#include "scenario.hpp"
#include "tabacus/common/counter.hpp"

namespace tabacus::lab {

/// What a tab needs to count by some strategy. Killed with its tab.
class CounterHost {
  public:
    CounterHost() = default;
    CounterHost(const CounterHost&) = delete;
    CounterHost& operator=(const CounterHost&) = delete;
    CounterHost(CounterHost&&) = delete;
    CounterHost& operator=(CounterHost&&) = delete;
    virtual ~CounterHost() = default;
    virtual Task<void> open() = 0;
    virtual Task<void> close() { co_return; }
    /// Once open: always the same one.
    virtual Counter& counter() = 0;
};
using MakeHost = std::function<std::unique_ptr<CounterHost>(LabTab&)>;

/// The names of what counts over tabs: the default counter and all of the catalogue.
const std::vector<std::string_view>& counting_strategies();
/// The counter "c" of a tab, by the strategy of that name; null for a name that is none.
MakeHost hosts_of(std::string_view strategy, Durability durability = Durability::relaxed);

/// What the strategy declares where all of the platform is there. Its name is one of the above.
Guarantee guarantee_of(std::string_view strategy);

struct CountingScenario {
    std::uint32_t tabs = 2;
    std::uint32_t adds = 2;        // in each tab
    bool flush_each = false;       // after every add, and not only after the last
    bool all_read = false;         // at the end every living tab reads, and must read the same
    double pause_ms = 0;           // between the adds of a tab, and between one tab and the next
    bool locks_bar_cache = false;  // Platform::locks_bar_cache of every tab
    bool may_lose = false;  // what was acknowledged may be lost: faults destroy the store itself
};

std::function<std::unique_ptr<Workload>()> counting_workload(MakeHost make,
                                                             CountingScenario counting);

}  // namespace tabacus::lab
