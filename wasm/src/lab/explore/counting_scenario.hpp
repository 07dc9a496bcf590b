// CountingScenario: the scenario that every counter strategy is explored with. Some tabs open, add
// one a few times each, and flush. Then a new tab reads.
//
// The checks: every tab that lives has finished. No acknowledged update is lost, and none is
// counted twice: the value lies between the number of acknowledged adds and the number of attempted
// ones. If nothing was refused and no tab died, the value is exactly the number of attempted adds.
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

/// The counter of one tab, with the objects that its strategy needs. It is destroyed with its tab.
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
    /// Returns the counter, always the same one. Requires that open() has returned.
    virtual Counter& counter() = 0;
};
using MakeHost = std::function<std::unique_ptr<CounterHost>(LabTab&)>;

/// Returns the names of all strategies: the default counter and those of the catalogue.
const std::vector<std::string_view>& counting_strategies();
/// Returns a function that makes the host of a counter "c" with that strategy; null if there is no
/// strategy of that name.
MakeHost hosts_of(std::string_view strategy, Durability durability = Durability::relaxed);

/// Returns the guarantee that the strategy declares on a complete platform. Requires that
/// `strategy` is one of counting_strategies().
Guarantee guarantee_of(std::string_view strategy);

struct CountingScenario {
    std::uint32_t tabs = 2;
    std::uint32_t adds = 2;        // the number of adds of each tab
    bool flush_each = false;       // flushes after every add, not only after the last
    bool all_read = false;         // checks also what each living tab reads in the end
    double pause_ms = 0;           // between the adds of a tab, and between the starts of tabs
    bool locks_bar_cache = false;  // Platform::locks_bar_cache of every tab
    bool may_lose = false;         // accepts that acknowledged adds are lost
};

/// Returns a function that makes the workload of one run.
std::function<std::unique_ptr<Workload>()> counting_workload(MakeHost make,
                                                             CountingScenario counting);

}  // namespace tabacus::lab
