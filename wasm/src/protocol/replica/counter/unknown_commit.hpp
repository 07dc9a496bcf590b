// UnknownCommit: a commit of one counter's row whose outcome has not been reported.
//
//   kind        added to the list                        removed from the list
//   in epoch    when the connection was lost before      by settle_unknown_commits(), which the
//               the outcome was reported                 next adoption calls
//   adopting    when it is issued                        once its outcome is reported, or, if the
//                                                        connection is lost, as in epoch
//
// An adopting commit writes the first row of an epoch, so that until its outcome is known this
// tab's increments may be in a row that is not its own yet.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/common/record.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class Replica;
class Transaction;

struct UnknownCommit {
    std::string row;  // "generation/slot"
    TotalsRecord record;
    std::uint64_t through;  // it covers the increments up to this number
    Totals increments;      // adopting: what it adds to the row; else empty

    [[nodiscard]] bool adopts() const { return !increments.empty(); }
    /// Returns true if the commit may have happened, given what its row holds now. In this commit's
    /// epoch the row is the replica's own. Under a newer owner it has grown from what this replica
    /// left, so that a row that holds less refutes the commit.
    [[nodiscard]] bool compatible_with(const std::optional<TotalsRecord>& stored) const {
        return stored && stored->epoch >= record.epoch &&
               larger(stored->totals, record.totals) == stored->totals;
    }
};

/// Finds out which commits of unknown outcome have happened. `transaction` is the one that is about
/// to adopt a slot. If a row has a newer owner, and holds as much as the commit would have written,
/// it cannot be known whether the commit happened. Writing its increments again could count them
/// twice. The replica therefore does not write them again, and fails the flushes that wait for
/// them.
Task<void> settle_unknown_commits(Replica& replica, Transaction& transaction,
                                  std::string_view generation);

}  // namespace tabacus
