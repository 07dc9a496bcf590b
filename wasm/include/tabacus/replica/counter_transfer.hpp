// CounterTransfer: exports and imports replicated counters, so that the application's own server
// can carry them to other devices.
//
// A state is a set of committed rows. Each row has the cumulative totals of one replica, under a
// name that no other replica has, and the epoch in which they were written. States are joined row
// by row: the row of the newer epoch wins, and within an epoch the larger totals win (a state-based
// PN-counter, RR-7506 spec. 7). Any part of a state is a state, too (a delta: P. S. Almeida et al.,
// "Delta State Replicated Data Types", JPDC 111, 2018). States may therefore be merged in any
// order, any number of times, and from any source.
//
// It promises: what is merged is in the store when merge() returns. From then on it counts in all
// tabs, and the states that they export contain it. A merge does not change rows of this database's
// own replicas, because the tabs that own those rows have newer totals.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// A row of a counter, in the form of its export.
struct TransferredRow {
    std::string node;    // "generation/slot"
    std::string record;  // "epoch;plus;minus", as format_totals() writes it behind the version
};

/// The value of a counter as the store has it.
struct CounterValue {
    std::string counter;
    std::int64_t value = 0;
};

class CounterTransfer {
  public:
    /// Far more rows than any counter has.
    static constexpr std::size_t rows_max = 100'000;

    /// `world` must outlive it.
    CounterTransfer(World& world, std::string name_space)
        : world_(world), name_space_(std::move(name_space)) {}

    /// Returns the committed rows of a counter, without those that cannot be read. Fails with
    /// unavailable if there is no IndexedDB, and as Database::begin() does.
    Task<std::list<TransferredRow>> state(std::string counter);
    /// Returns the committed values of all counters whose names begin with `prefix`, in the order
    /// of their rows' keys. Rows that cannot be read do not count. Fails as state() does.
    Task<std::list<CounterValue>> values(std::string prefix);
    /// Joins `rows` with those of the store. Fails with invalid_argument if one of them is no row,
    /// or if they are not sorted by their nodes; with out_of_range if the counter would leave
    /// ±(2^53 − 1) with them; and as Transaction::commit() does. If it fails, nothing is merged,
    /// unless the failure is unknown_commit.
    Task<void> merge(std::string counter, std::vector<TransferredRow> rows);

  private:
    World& world_;
    std::string name_space_;
};

}  // namespace tabacus
