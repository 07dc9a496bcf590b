// LockSweeper: removes the rows of locks that no tab uses, so that names of locks that are no
// longer used leave no state behind. For a lock of once(), it also removes the value that the last
// run has stored.
//
// A lock's row fences its former holders, and records the tokens of its holder and of the next in
// line (epochs.hpp). An absent row fences as well: a commit under a hold of the removed row fails.
// So a row may be removed once no tab holds the lock or waits for it. The sweeper reads the rows,
// then asks the browser which locks are held or waited for, and then removes the rows of other
// locks if they have not changed since it read them. This is safe:
//  - A tab that took or reserved tokens before the rows were read holds a Web Lock of that name
//    from then on, or waits for one, until it uses the tokens no more.
//  - A tab that did so afterwards has changed the row.
// A later holder begins a new row, with tokens above those of before, as where a database vanished.
//
// Once an hour, one of the tabs sweeps, when it has taken a token. It keeps the rows that were used
// within the last hour, so that locks that are used again and again keep their rows. Where there
// are no Web Locks, nothing is swept.
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

    /// Begins a sweep if the last one was kept_ms ago or earlier. Finds that out in `transaction`
    /// (scope: locks). Reads nothing if the last call was less than kept_ms ago.
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
