// Gatherer: counts in this tab what threads add in memory that they share with it.
//
// Threads add to cells in shared memory and never wait for the tab (tabacus/sync/tab_cells.hpp).
// This program has another memory and cannot read the cells, so it reads them through an interface
// that JavaScript implements. A gather reads what was added to the cells since the last gather,
// adds it to the tab's replica, and records that it was taken.
//
// It promises:
//  - What threads had added when a gather began is counted once it ends, or stays in the cells if
//    the counter would leave its range. It is committed as all increments of the tab are.
//  - flush() and read() gather first. A gather also precedes the last commit of a page that is
//    hidden, frozen or left, and that of close().
//  - Nothing is counted twice. Only this tab takes from the cells, and a gather does not wait
//    between reading and taking. If the tab dies in between, the shared memory dies with it, and so
//    do the increments that are not committed.
#pragma once

#include <cstdint>

#include "tabacus/common/task.hpp"
#include "tabacus/replica/replicated.hpp"

namespace tabacus {

/// The cells of one counter, as the tab uses them.
class SharedCells {
  public:
    virtual ~SharedCells() = default;
    /// Begins a gather. Returns what threads have added and take() has not taken, and at most
    /// ±value_max of it.
    virtual std::int64_t gather() = 0;
    /// Records that `n` of what gather() returned is counted.
    virtual void take(std::int64_t n) = 0;
    /// Publishes the tab's value, which includes all that was taken.
    virtual void publish(std::int64_t value) = 0;
};

class Gatherer {
  public:
    /// Requires that both outlive the gatherer.
    Gatherer(ReplicatedCounter& counter, SharedCells& cells);

    /// Counts what threads have added. Returns false, and leaves it in the cells, if the counter
    /// would leave its range.
    bool gather();
    /// Returns what ReplicatedCounter::read() returns after a gather. Fails with out_of_range, and
    /// as read() does.
    Task<std::int64_t> read();
    /// Returns once all that threads had added before the call is committed. Fails with
    /// out_of_range, and as ReplicatedCounter::flush() does.
    Task<void> flush();

  private:
    ReplicatedCounter& counter_;
    SharedCells& cells_;
    Subscription changes_;
    Subscription commits_;
};

}  // namespace tabacus
