// LockSweeper: removes the rows of locks that no tab uses, so that names that are let go leave no
// state behind. With the row of a lock of once() goes the value that its last run has stored.
//
// A lock's row fences its former holders, and holds the tokens of its holder and of the next in line
// (epochs.hpp). A row that is not there fences as well: a commit under a hold of it fails. So a row
// may be removed once no tab holds the lock or waits for it. The sweeper reads the rows, then asks
// the browser who holds or waits for locks, and then removes the rows that are still as it read them:
//  - A tab that took or reserved tokens before the rows were read holds a Web Lock of that name from
//    then on, or waits for one, until it uses the tokens no more.
//  - A tab that did so afterwards has changed the row.
// A later holder begins a new row, with tokens above those of before, as where a database vanished.
//
// One tab of all sweeps, once an hour, when it has taken a token. It leaves alone what was in use
// within the last hour, so that a sweep does nothing to locks that are used again and again. Where
// there are no Web Locks, nothing is swept.
#pragma once

#include <string>
#include <vector>

#include "protocol/common/names.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class LockSweeper {
  public:
    /// The sweeps run in `scope`, and their transactions belong to the group.
    LockSweeper(World& world, const Names& names, const TransactionGroup& transactions,
                Scope& scope)
        : world_(world), names_(names), transactions_(transactions), scope_(scope) {}

    /// How long after its last grant a row is kept, and the time from one sweep to the next.
    static constexpr double kept_ms = 3'600'000;

    /// Begins a sweep if it is time, which it finds out in this transaction under way (scope:
    /// locks). Reads nothing if the last call was less than kept_ms ago.
    Task<void> sweep_if_due(Transaction& transaction);

  private:
    Task<void> sweep();
    Task<std::string> sweep_some(std::string from);
    Task<void> drop_used(std::vector<Row>& rows);
    Task<void> remove(Transaction& transaction, const Row& row);

    World& world_;
    const Names& names_;
    const TransactionGroup& transactions_;
    Scope& scope_;
    double look_again_ms_ = 0;  // by World::clock().monotonic_ms()
};

}  // namespace tabacus
