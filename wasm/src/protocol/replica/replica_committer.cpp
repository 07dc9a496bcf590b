#include "replica_committer.hpp"

#include <algorithm>

#include "commit_retries.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/timer.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// How long a commit waits so that the announcement reaches other tabs first. A transaction that is
/// begun at the same time competes with the announcement for the browser's process, and nearly
/// doubles the time until other tabs see the increment. A flush does not wait, nor does a hidden
/// tab, whose timers may run once a minute.
constexpr double news_first_ms = 1;

Task<void> pause(Replica& replica, double delay_ms) {
    auto& committer = replica.committer;
    committer.begin_pause();
    replica.scope.spawn(complete_after(replica.world.clock(), delay_ms, committer.pause_end()));
    co_await committer.pause_end().async();
    committer.leave_pause();
}

Task<void> commit_batch(Replica& replica) {
    if (replica.medium == Medium::memory) {
        replica.committer.committed(replica.counters.gather(Durability::strict));
        co_return;
    }
    if (replica.medium == Medium::database) {
        if (!replica.slot.adopted() || resting(replica)) co_await ensure_adopted(replica);
        (void)co_await attempt(read_bases(replica));
    }
    if (replica.counters.dirty()) co_await replica.commit_rows(commit_rows_max);
}

Task<void> commit_loop(Replica& replica) {
    auto& committer = replica.committer;
    committer.start();
    if (!replica.counters.awaited() && !replica.world.lifecycle().hidden()) {
        co_await pause(replica, news_first_ms);
    }
    CommitRetries retries;
    while (replica.counters.dirty() && replica.active()) {
        const auto outcome = co_await attempt(commit_batch(replica));
        if (outcome) {
            retries = {};
            continue;
        }
        if (!replica.active()) break;
        const Error& failure = outcome.error();
        if (CommitRetries::mended_by_adoption(failure.code())) {
            replica.slot.lose();
            if (retries.at_once(failure.code())) continue;
        }
        replica.counters.fail_flushes(failure);
        replica.notices.warn(failure, "commit");
        co_await pause(replica, retries.next_pause_ms());
    }
    committer.stop();
    if (!replica.active()) co_return;
    start_announcing(replica);  // rows that were based
    start_reminding(replica);
    rest_soon(replica);
}

}  // namespace

void ReplicaCommitter::committed(const std::list<CommitRow>& rows) {
    ++commits_;
    for (const auto& row : rows) {
        row.state->news.on_commit();
        row.state->confirm(row.totals, row.through);
    }
}

void start_committing(Replica& replica) {
    if (!replica.committer.running() && replica.counters.dirty()) {
        replica.scope.spawn(commit_loop(replica));
    }
}

void commit_before_sleep(Replica& replica) {
    replica.committer.before_last_commits().call();
    announce_at_once(replica);
    if (replica.medium != Medium::database || !replica.slot.adopted() ||
        !replica.counters.dirty()) {
        return;
    }
    replica.scope.spawn([](Replica& self) -> Task<void> {
        // If it fails, the increments stay pending.
        (void)co_await attempt(self.commit_rows(SIZE_MAX));
        rest_soon(self);
    }(replica));
}

/// A transaction writes what was attempted when it was begun, even if it waits for a base after
/// that. Otherwise a row could go back: the browser runs transactions in the order in which they
/// were begun, and another one may have been begun and filled meanwhile (commit_before_sleep()).
Task<void> commit_to_database(Replica& replica, std::size_t most) {
    auto& slot = replica.slot;
    const auto durability = replica.counters.durability_of_dirty();
    constexpr Stores scope{Store::claims, Store::rows, Store::quarantine};
    const auto transaction =
        co_await replica.world.database().begin(scope, Access::write, durability);
    if (!slot.adopted()) co_await fail_slot_lost();
    transaction->claim(subject_of_slot(slot.name()), format_holder(slot.holder()));
    auto rows = replica.counters.gather(durability, most);
    for (auto& row : rows) {
        if (row.based) continue;
        auto& state = *row.state;
        const auto epoch = slot.epoch();
        const auto base = co_await stored_base(replica, *transaction, state, slot.holder());
        // The page may have been hidden meanwhile.
        if (!slot.adopted() || slot.epoch() != epoch) co_await fail_slot_lost();
        // Another commit may have been quicker.
        if (!state.own_row.based()) set_base(replica, state, base);
        row.totals = row.totals + state.own_row.base();
    }
    for (const auto& row : rows) {
        transaction->put(Store::rows, row_key(row.state->key, slot.row()),
                         format_totals({slot.epoch(), row.totals}));
    }

    replica.committer.issue();
    const auto outcome = co_await attempt(transaction->commit());
    replica.committer.report();
    if (outcome) {
        replica.committer.committed(rows);
        co_await back_up(replica.backup, replica.notices, slot, rows);
    } else if (outcome.error().code() == ErrorCode::unknown_commit) {
        for (const auto& row : rows) {
            row.state->unknown.push_back({slot.row(), {slot.epoch(), row.totals}, row.through, {}});
        }
    }
    replica.committer.release_outcome_waiters();
    if (!outcome) co_await fail(outcome.error());
}

/// If a newer version wrote a row of this slot, the slot is that version's: this replica leaves it,
/// and takes another one.
Task<Totals> stored_base(Replica& replica, Transaction& transaction, CounterState& state,
                         const HolderRecord& holder) {
    const auto row_id = ReplicaSlot::row_of(holder);
    const auto key = row_key(state.key, row_id);
    Totals base;
    bool newer = false;
    bool corrupt = false;
    if (state.reads.know_base(holder.epoch)) {
        // No other tab has written the row since the epoch began.
        base = state.row_cache.committed(row_id);
    } else if (const auto row = co_await transaction.get(Store::rows, key)) {
        const auto record = row->foreign ? std::nullopt : parse_totals(row->value);
        newer = is_newer(row->value);
        corrupt = !record && !newer;
        if (record) {
            base = record->totals;
        } else if (!newer) {
            transaction.put(Store::quarantine, concat({"rows/", key}), row->text());
            replica.notices.warn_unreadable("rows", key);
        }
    }
    auto text = co_await attempt(replica.backup.get(key));
    newer = newer || Backup::newer(text);
    if (newer) {
        replica.slot.pass_over();
        co_await fail_slot_lost();
    }
    const auto saved = Backup::parsed(std::move(text));
    state.own_row.set_backed_up(saved.has_value());
    // If the row can be read, the backup is ignored, because another script may have written it.
    if (saved && corrupt) base = saved->totals;
    co_return base;
}

void set_base(Replica& replica, CounterState& state, Totals base) {
    state.row_cache.remove(replica.slot.row());
    state.own_row.set_base(base);
    state.news.announce();
    replica.revalue(state);
}

Task<void> back_up(Backup& backup, ReplicaNotices& notices, const ReplicaSlot& slot,
                   const std::list<CommitRow>& rows) {
    for (const auto& row : rows) {
        auto& own_row = row.state->own_row;
        const auto key = row_key(row.state->key, slot.row());
        own_row.set_backed_up(own_row.backed_up() || backup.take_room(key));
        if (own_row.backed_up() && co_await attempt(backup.put(key, {slot.epoch(), row.totals})))
            continue;
        if (backup.take_warning()) {
            notices.warn("backup-incomplete", "The backup does not hold all counters.", "");
        }
    }
}

}  // namespace tabacus
