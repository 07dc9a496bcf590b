// CounterState: what a replica knows of one counter. Each part has its own state, with a table in
// its header:
//
//   ObservedValue    the value as this tab knows it, and who observes it
//   OwnRow           what this tab has counted, and how much of that the store holds
//   CounterFlushes   the flushes that wait for a commit
//   UnknownCommit    a commit whose outcome was not reported
//   CounterNews      what is to be announced, and what was received
//   CounterReads     the reads of the store
//   RowCache         the rows of all others
//
// An increment changes the first three parts and the news (add()). A commit changes the own row and
// the flushes (confirm()). The fields that add() uses are neighbours in memory.
//
//   busy   meaning                                       who may leave the state, and how
//   no     there is nothing to do for the counter        CounterSet::touch()
//   yes    it is handled at the end of the turn          CounterSet::settle()
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "counter_flushes.hpp"
#include "counter_news.hpp"
#include "counter_reads.hpp"
#include "observed_value.hpp"
#include "own_row.hpp"
#include "row_cache.hpp"
#include "tabacus/common/counter.hpp"
#include "unknown_commit.hpp"

namespace tabacus {

struct CounterState {
    /// `based`: whether no other tab ever writes the own row, so that its base is 0.
    CounterState(std::string&& escaped_name, Durability of_commits, bool based)
        : key(std::move(escaped_name)), durability(of_commits), own_row(based), news(based) {}

    std::string key;  // the escaped name: the first part of the keys of its rows
    Durability durability;

    ObservedValue value;
    OwnRow own_row;
    CounterFlushes flushes;
    CounterNews news;
    bool busy = false;

    CounterReads reads;
    RowCache row_cache;  // the rows of other tabs, and of this tab in earlier epochs
    std::list<UnknownCommit> unknown;

    /// The next counter of the same bucket of CounterSet's hash table.
    CounterState* next = nullptr;
    /// The object by which the application uses the counter. It is made by the first use.
    std::unique_ptr<Counter> handle;

    /// Counts `n`. Returns false, and changes nothing, if the value or the own row would leave its
    /// range.
    bool add(std::int64_t n);
    /// Notes that the store holds `totals` in the own row, and the increments up to the number
    /// `through`.
    void confirm(Totals totals, std::uint64_t through);
    /// Sets the value to the sum of all rows. Returns whether that is another value.
    bool revalue();
    /// Returns true while it is unknown whether an adoption was committed. If it was, the store has
    /// some of this tab's increments in a row that this tab does not know as its own yet, and a
    /// read of that row would count them twice.
    [[nodiscard]] bool adoption_unknown() const;
    /// Whether there is anything to do for the counter at the end of a turn.
    [[nodiscard]] bool pending() const;
};

}  // namespace tabacus
