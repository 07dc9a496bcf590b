// CounterState: what a replica knows of one counter.
//
//   flag           set                                          cleared
//   unread         when the counter is made, and when its       when a read of the store begins
//                  first read has failed
//   changed        when the value changes                       when the subscribers are called
//   announceable   when the own row grows or is based, and      when the own row is announced
//                  once more when it is committed;
//                  without a store, when another tab asks
//   committed      when the store holds the own row             when the announcement of what was
//                                                               committed is due
//   followed       by the first subscription or read; without   never
//                  IndexedDB, when the counter is made
//   unconfirmed    when an announcement is received             when a check of the store begins
//   reading        when a read of its rows begins               when that read ends
//   unreadable     when a read meets a row of the counter that    never
//                  cannot be read
//   newer          when a read meets a row of the counter that    when a read of its rows begins
//                  only a newer version can read
//   backed_up      when the backup has the own row, or has      when the own row of another epoch
//                  room for it                                  is based that has no backup
//   busy           by CounterSet::touch()                       by CounterSet::settle()
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <utility>

#include "counter_flushes.hpp"
#include "own_row.hpp"
#include "protocol/common/change_listeners.hpp"
#include "row_cache.hpp"
#include "tabacus/common/counter.hpp"
#include "unknown_commit.hpp"

namespace tabacus {

struct CounterState {
    /// `based`: the own row is shared with no other tab.
    CounterState(std::string&& escaped_name, Durability of_commits, bool based)
        : key(std::move(escaped_name)), durability(of_commits), own_row(based), followed(based) {}

    std::string key;  // the escaped name: the first part of the keys of its rows
    Durability durability;

    RowCache row_cache;  // the rows of other tabs, and of this tab in earlier epochs
    OwnRow own_row;
    std::list<UnknownCommit> unknown;
    CounterFlushes flushes;

    std::int64_t value = 0;
    bool unread = true;
    bool changed = false;
    bool announceable = false;
    bool committed = false;
    bool followed;
    bool unconfirmed = false;
    bool reading = false;
    bool unreadable = false;
    bool newer = false;
    bool backed_up = false;
    bool busy = false;

    /// The epoch of the slot in which a read of all rows of the counter was begun last. In that
    /// epoch the row cache knows the own row's base. 0 if there is none.
    std::int64_t read_epoch = 0;

    /// The next counter of the same bucket of CounterSet's hash table.
    CounterState* next = nullptr;
    /// What the application uses of the counter. It is made by the first use.
    std::unique_ptr<Counter> handle;
    ChangeListeners change_listeners;

    /// Adds `n` to the value and to the own row. Returns false, and changes nothing, if either
    /// would leave its range.
    bool add(std::int64_t n);
    /// The store holds `totals` in the own row, and the increments up to the number `through`.
    void confirm(Totals totals, std::uint64_t through);
    /// True while it is not known whether the store has some of this tab's increments in a row that
    /// is not its own yet. A read of that row would count them twice.
    [[nodiscard]] bool adoption_unknown() const;
};

}  // namespace tabacus
