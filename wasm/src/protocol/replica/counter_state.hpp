// CounterState: one replicated counter as its replica keeps it. Data only; Replica is its one
// writer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>

#include "protocol/common/change_listeners.hpp"
#include "row_cache.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

struct CounterState {
    std::string key;  // the escaped name: the first part of the keys of its rows
    Durability durability = Durability::relaxed;

    /// The rows of the others, and of this tab in earlier epochs.
    RowCache row_cache;

    /// This tab's own row. `attempted` is what was added, `committed` what is known to be stored;
    /// both include what the row held when its slot was adopted, once that is `based`.
    Totals attempted;
    Totals committed;
    Totals base;  // that part, once `based`
    bool based = false;

    /// Commits whose outcome was never reported: settled when the slot is adopted again. One that
    /// adopted its slot is here from its beginning, and gone once its outcome is reported.
    struct UnknownCommit {
        std::string row;
        TotalsRecord record;
        std::uint64_t through;
        Totals increments;  // what it adds to the row, if it adopted its slot; else empty
        [[nodiscard]] bool adopts() const { return !increments.empty(); }
    };
    std::list<UnknownCommit> unknown;
    bool outcome_unknown = false;  // one stays unknown for ever, and no flush has failed for it yet

    /// Increments counted since the tab opened, and how many of them are committed.
    std::uint64_t added = 0;
    std::uint64_t committed_through = 0;
    struct Waiter {
        std::uint64_t target = 0;
        Completer<Unit> done;
    };
    std::list<Waiter> waiters;

    std::int64_t value = 0;
    bool unread = true;         // the store is to be read for the first time
    bool changed = false;       // subscribers are to be called
    bool announceable = false;  // this tab's totals are to be announced to other tabs
    bool unconfirmed = false;   // announcements were received that the store has not confirmed

    ChangeListeners change_listeners;

    /// True while it is not known whether the store has some of this tab's increments in a row that
    /// is not its own yet. A read of that row would count them twice.
    [[nodiscard]] bool adoption_unknown() const {
        return std::any_of(unknown.begin(), unknown.end(),
                           [](const auto& commit) { return commit.adopts(); });
    }
    [[nodiscard]] bool dirty() const { return attempted != committed; }
    [[nodiscard]] std::int64_t own() const { return attempted.plus - attempted.minus; }
};

}  // namespace tabacus
