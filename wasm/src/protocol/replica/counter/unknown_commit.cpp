#include "unknown_commit.hpp"

#include "protocol/common/concat.hpp"
#include "protocol/replica/replica.hpp"

namespace tabacus {

Task<void> settle_unknown_commits(Replica& replica, Transaction& transaction,
                                  std::string_view generation) {
    for (auto& state : replica.counters) {
        // A replica that rested may begin another commit meanwhile. That one becomes unknown only
        // together with this transaction.
        for (const auto& commit : state.unknown) {
            bool happened = true;
            std::optional<TotalsRecord> stored;
            if (commit.row.starts_with(concat({generation, "/"}))) {
                const auto row =
                    co_await transaction.get(Store::rows, row_key(state.key, commit.row));
                stored = row ? parse_totals(row->value) : std::nullopt;
                // A newer version has adopted the slot, with or without the commit.
                const bool newer = row && is_newer(row->value);
                happened = newer || commit.compatible_with(stored);
                if (newer || (happened && stored->epoch > commit.record.epoch)) {
                    state.flushes.fail_unknown();
                    replica.notices.warn("unknown-commit",
                                         "A commit was cut off, and its row has a newer owner.",
                                         commit.row);
                }
            }
            // Increments in a row of a vanished database count in that row, which recover()
            // restores.
            if (happened && commit.adopts()) {
                // Its epoch is over, so that the row is one of the others.
                state.own_row.remove(commit.increments);
                state.row_cache.merge_committed(commit.row, stored.value_or(commit.record));
                state.confirm(state.own_row.committed(), commit.through);
                replica.revalue(state);
            } else if (happened && commit.row == replica.slot.row()) {
                state.confirm(commit.record.totals, commit.through);
            }
        }
        state.unknown.clear();  // only now, because a read of the transaction may have failed
    }
}

}  // namespace tabacus
