// CounterTransfer: replicated counters on their way to other devices, by the application's own
// server.
//
// A state is a set of rows, as they are committed: of each replica its cumulative totals, under a
// name that no other replica has, with the epoch in which they were written. States are joined row
// by row: of two rows of one replica the newer epoch's, and within an epoch the larger totals (a
// state-based PN-counter, RR-7506 spec. 7; any part of a state is one: a delta, P. S. Almeida et
// al., "Delta State Replicated Data Types", JPDC 111, 2018). So they may be merged in any order,
// any number of times, and by way of anybody.
//
// It promises: what is merged is in the store when merge() returns, counts from then on in all
// tabs, and is in the states that they export. Rows of this very database are not touched: their
// owners know better.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// A row of a counter, as texts.
struct TransferredRow {
    std::string node;    // "generation/slot"
    std::string record;  // "1;epoch;plus;minus"
};

class CounterTransfer {
  public:
    /// More is nobody's counter.
    static constexpr std::size_t rows_max = 100'000;

    /// `world` must outlive it.
    CounterTransfer(World& world, std::string name_space)
        : world_(world), name_space_(std::move(name_space)) {}

    /// What is committed of a counter. Rows that cannot be read are left out. unavailable: there is
    /// no IndexedDB; as Database::begin().
    Task<std::vector<TransferredRow>> state(std::string counter);
    /// Nothing is merged: invalid_argument, one of them is none; out_of_range, with them the
    /// counter would leave ±(2^53 − 1). As Transaction::commit().
    Task<void> merge(std::string counter, std::vector<TransferredRow> rows);

  private:
    World& world_;
    std::string name_space_;
};

}  // namespace tabacus
