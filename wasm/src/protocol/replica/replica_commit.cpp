// Group commit: the dirty rows of all counters in one transaction, one transaction at a time.
//
// A commit writes whole rows of cumulative totals, so that repeating it does no harm, and knows its
// rows beforehand, so that it is issued without waiting for a read. What is dirty when a slot is
// adopted is committed by the transaction that adopts it.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "protocol/common/taken.hpp"
#include "protocol/common/timer.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// After a failure that another attempt at once has not overcome: first and longest pause.
constexpr double retry_first_ms = 100;
constexpr double retry_last_ms = 30'000;

/// News of an increment goes to the other tabs first: a transaction begun in the same instant
/// competes with it for the browser's process, and nearly doubles the time until they see it. A
/// flush does not wait, nor does a hidden tab, whose timers may run once a minute.
constexpr double news_first_ms = 1;

/// A fenced, cut-off or failed commit is tried this many times in all, each time under a new epoch,
/// before the flushes that wait for it fail. Each cause (slot stolen, connection dropped, database
/// gone) is mended by one adoption; three causes in a row are a broken platform.
constexpr int commit_attempts_max = 4;

/// A full store does not empty itself because we ask again.
bool retried_at_once(ErrorCode code) {
    return code == ErrorCode::fenced || code == ErrorCode::unknown_commit ||
           code == ErrorCode::store_failed;
}

Error unknown_outcome() {
    return {ErrorCode::unknown_commit, "a commit was cut off, and its row has a newer owner"};
}

}  // namespace

bool Replica::dirty() const {
    return std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return state.dirty(); });
}

bool Replica::awaited() const {
    return std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return !state.waiters.empty(); });
}

Task<void> Replica::commit_loop() {
    committing_ = true;
    if (!awaited() && !world_.lifecycle().hidden()) co_await back_off(news_first_ms);
    double pause_ms = retry_first_ms;
    int attempts = 0;
    while (dirty() && !suspended_ && !closed_) {
        const auto outcome = co_await attempt(commit_batch());
        if (outcome) {
            attempts = 0;
            pause_ms = retry_first_ms;
            continue;
        }
        if (suspended_ || closed_) break;
        const Error& failure = outcome.error();
        if (retried_at_once(failure.code())) {
            lose_slot();
            if (++attempts < commit_attempts_max) continue;
        }
        attempts = 0;
        fail_waiters(failure);
        warn(failure, "commit");
        co_await back_off(pause_ms);
        pause_ms = std::min(pause_ms * 2, retry_last_ms);
    }
    committing_ = false;
    if (closed_ || suspended_) co_return;
    // Once more when all is committed, so that a tab that missed or forgot it checks the store.
    for (auto& state : counters_) state.announceable = state.announceable || state.based;
    if (!announcing_) scope_.spawn(announce_loop());
    rest_soon();
}

Task<void> Replica::commit_batch() {
    if (medium_ == Medium::memory) {
        committed(gather(Durability::strict));
        co_return;
    }
    if (medium_ == Medium::database && (!holder_ || resting())) co_await ensure_adopted();
    if (dirty()) co_await commit_rows();
}

Durability Replica::durability_of_dirty() const {
    auto durability = Durability::relaxed;
    for (const auto& state : counters_) {
        if (state.dirty()) durability = std::max(durability, state.durability);
    }
    return durability;
}

/// The dirty rows that a transaction of this durability may commit. One that became dirty after the
/// transaction was asked for, and needs more, waits for the next.
std::list<Replica::CommitRow> Replica::gather(Durability durability) {
    std::list<CommitRow> rows;
    for (auto& state : counters_) {
        if (!state.dirty() || state.durability > durability) continue;
        rows.push_back({.state = &state,
                        .totals = state.attempted,
                        .increments = state.attempted - state.committed,
                        .through = state.added,
                        .based = state.based,
                        .base = {}});
    }
    return rows;
}

/// What a transaction writes is what was attempted when it was begun, even if it waited for a base
/// since: the browser runs transactions in the order they were begun, and another may have been
/// begun and filled meanwhile (commit_before_sleep), so that a row never goes back.
Task<void> Replica::commit_rows() {
    const auto durability = durability_of_dirty();
    constexpr Stores scope{Store::claims, Store::rows, Store::quarantine};
    const auto transaction = co_await world_.database().begin(scope, Access::write, durability);
    if (!holder_) {
        co_await fail(ErrorCode::fenced, "the slot was stolen, or released with the page hidden");
    }
    transaction->claim(subject_of_slot(slot_), format_holder(*holder_));
    auto rows = gather(durability);
    for (auto& row : rows) {
        if (row.based) continue;
        auto& state = *row.state;
        const auto epoch = row_epoch_;
        const auto base = co_await stored_base(*transaction, row_key(state.key, row_));
        // The page may have been hidden meanwhile.
        if (!holder_ || row_epoch_ != epoch) {
            co_await fail(ErrorCode::fenced,
                          "the slot was stolen, or released with the page hidden");
        }
        if (!state.based) set_base(state, base);  // else another commit was quicker
        row.totals = row.totals + row.state->base;
    }
    for (const auto& row : rows) {
        transaction->put(Store::rows, row_key(row.state->key, row_),
                         format_totals({row_epoch_, row.totals}));
    }

    ++commits_in_flight_;
    const auto outcome = co_await attempt(transaction->commit());
    --commits_in_flight_;
    if (outcome) {
        committed(rows);
        co_await back_up(rows);
    } else if (outcome.error().code() == ErrorCode::unknown_commit) {
        for (const auto& row : rows) {
            row.state->unknown.push_back({row_, {row_epoch_, row.totals}, row.through, {}});
        }
    }
    complete(outcome_waiters_);
    if (!outcome) co_await fail(outcome.error());
}

/// Puts the first rows of the epoch that `transaction` begins, on their bases. Until its outcome is
/// reported they are commits of unknown outcome, and nothing else of the replica's state has
/// changed.
void Replica::put_first_rows(Transaction& transaction, const HolderRecord& holder,
                             std::list<CommitRow>& rows) {
    const auto row_id = row_of(holder);
    for (auto& row : rows) {
        row.totals = row.base + row.increments;
        const TotalsRecord record{holder.epoch, row.totals};
        transaction.put(Store::rows, row_key(row.state->key, row_id), format_totals(record));
        row.state->unknown.push_back({row_id, record, row.through, row.increments});
    }
}

/// Takes them out of the commits of unknown outcome, once the outcome is reported.
void Replica::forget_first_rows(const std::list<CommitRow>& rows) {
    for (const auto& row : rows) {
        std::erase_if(row.state->unknown, [](const auto& commit) { return commit.adopts(); });
    }
}

Task<void> Replica::back_up(const std::list<CommitRow>& rows) {
    for (const auto& row : rows) {
        (void)co_await attempt(
            backup_.put(row_key(row.state->key, row_), {row_epoch_, row.totals}));
    }
}

/// What the first commit of a counter in an epoch goes on from: what the slot's row holds, or its
/// backup where that is larger: a relaxed commit may be lost in a crash while the backup survives.
Task<Totals> Replica::stored_base(Transaction& transaction, std::string key) {
    Totals base;
    const auto row = co_await transaction.get(Store::rows, key);
    if (row) {
        const auto record = row->foreign ? std::nullopt : parse_totals(row->value);
        if (record) {
            base = record->totals;
        } else {
            transaction.put(Store::quarantine, concat({"rows/", key}), row->text());
            warn_unreadable("rows", key);
        }
    }
    const auto backup = Backup::parsed(co_await attempt(backup_.get(key)));
    if (backup) base = larger(base, backup->totals);
    co_return base;
}

/// The row of the slot, which holds `base`, is this replica's own from here on.
void Replica::set_base(CounterState& state, Totals base) {
    state.row_cache.remove(row_);
    state.base = base;
    state.attempted = state.attempted + base;
    state.committed = base;
    state.based = true;
    revalue(state);
}

void Replica::committed(const std::list<CommitRow>& rows) {
    ++commits_;
    for (const auto& row : rows) confirm(*row.state, row.totals, row.through);
}

void Replica::confirm(CounterState& state, Totals totals, std::uint64_t through) {
    state.committed = larger(state.committed, totals);
    state.committed_through = std::max(state.committed_through, through);
    for (auto& waiter : taken(state.waiters)) {
        if (waiter.target <= state.committed_through) {
            waiter.done.complete({});
        } else {
            state.waiters.push_back(std::move(waiter));
        }
    }
}

/// It cannot be known any more whether some of the increments are stored: to write them again could
/// count them twice. Every flush that waits fails for it; if none waits, the next one does.
void Replica::fail_unknown(CounterState& state) {
    state.outcome_unknown = state.waiters.empty();
    fail_waiters(state, unknown_outcome());
}

Task<void> Replica::flush(CounterState& state) {
    if (closed_) co_await fail(ErrorCode::closed, "the tab is closed");
    if (std::exchange(state.outcome_unknown, false)) co_await fail(unknown_outcome());
    const auto target = state.added;
    if (state.committed_through >= target) co_return;
    const Completer<Unit> done;
    state.waiters.push_back({target, done});
    if (backing_off_) retry_signal_.complete({});
    if (!turn_scheduled_) schedule_turn();
    co_await done.async();
}

void Replica::fail_waiters(const Error& error) {
    for (auto& state : counters_) fail_waiters(state, error);
}

void Replica::fail_waiters(CounterState& state, const Error& error) {
    for (const auto& waiter : taken(state.waiters)) waiter.done.fail(failure_of(error));
}

void Replica::complete(std::list<Completer<Unit>>& waiters) {
    for (const auto& waiter : taken(waiters)) waiter.complete({});
}

Task<void> Replica::back_off(double delay_ms) {
    retry_signal_ = {};
    backing_off_ = true;
    scope_.spawn(complete_after(world_.clock(), delay_ms, retry_signal_));
    co_await retry_signal_.async();
    backing_off_ = false;
}

}  // namespace tabacus
