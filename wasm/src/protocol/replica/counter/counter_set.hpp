// CounterSet: the counters of one replica. Counters are added and never removed, and a counter
// keeps its address. The work after an increment or a commit looks only at the busy counters, so
// that its cost does not grow with the number of other counters.
//
//   state of the set   meaning                                        what ends the state
//   clean              the store holds all that was counted           CounterState::add()
//   dirty              a commit is needed: gather() returns its rows  a commit of all rows succeeds
//   dirty, awaited     a flush waits for that commit                  the same, or fail_flushes()
//
//   turn        meaning                                               what ends the state
//   none        nothing follows the turn of the script                request_turn()
//   requested   the busy counters are handled when the script ends    begin_turn()
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <utility>

#include "counter_state.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// What a transaction writes of one counter.
struct CommitRow {
    CounterState* state = nullptr;
    Totals totals;
    Totals increments;          // the part of `totals` that is not committed
    std::uint64_t through = 0;  // `totals` include the increments up to this number
    bool based = false;         // whether `totals` include the base (own_row.hpp)
    Totals base;                // what the slot's row held, if this commit adopts the slot
};

using CounterList = std::list<CounterState*>;

class CounterSet {
  public:
    /// Returns null if there is no counter of that escaped name.
    CounterState* find(std::string_view key);
    /// Requires that there is no counter of that escaped name.
    CounterState& add(std::string&& key, Durability durability, bool based);
    [[nodiscard]] auto begin() { return counters_.begin(); }
    [[nodiscard]] auto end() { return counters_.end(); }

    /// Counts a counter as busy until settle() finds nothing to do for it.
    void touch(CounterState& state);
    /// The counters for which there may be anything to do.
    [[nodiscard]] const CounterList& busy() const { return busy_; }
    /// Requests that the busy counters are handled when the script has ended. Returns true for the
    /// first caller, which must call begin_turn() at that time.
    bool request_turn() { return !std::exchange(turn_requested_, true); }
    [[nodiscard]] bool turn_requested() const { return turn_requested_; }
    /// Reports the values of the busy counters that have changed. The next change requests another
    /// turn.
    void begin_turn();
    /// Forgets the busy counters for which there is nothing to do.
    void settle();

    [[nodiscard]] bool dirty() const;
    /// Returns true while a flush waits for a commit.
    [[nodiscard]] bool awaited() const;
    /// Returns true while a commit of unknown outcome is not settled.
    [[nodiscard]] bool unsettled() const;
    /// The strictest durability of the dirty counters.
    [[nodiscard]] Durability durability_of_dirty() const;

    /// Returns the dirty rows that a transaction of this durability may commit, and at most `most`.
    /// A counter that needs a stricter durability became dirty after the transaction was begun, and
    /// waits for the next one.
    std::list<CommitRow> gather(Durability durability, std::size_t most = SIZE_MAX);
    void fail_flushes(const Error& error);
    /// Moves the own rows, whose id is `row`, to the row caches, among the rows of others. What was
    /// not committed waits for a row of the next epoch.
    void end_epoch(std::string_view row, std::int64_t epoch);

  private:
    /// A tab has at most 131,072 names, so the longest bucket stays short.
    static constexpr std::size_t bucket_count = 4096;
    [[nodiscard]] CounterState*& bucket_of(std::string_view key);

    std::list<CounterState> counters_;
    CounterList busy_;
    bool turn_requested_ = false;
    std::array<CounterState*, bucket_count> buckets_{};
};

}  // namespace tabacus
