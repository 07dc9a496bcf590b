// Slots and epochs: how a replica comes to own the rows it writes.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// More tabs than any browser runs; a bound, so that a lock manager that refuses everything is an
/// error instead of an endless loop.
constexpr int slots_max = 4096;

/// How long a replica with nothing to write holds its slot, at least, and at most twice as long,
/// where that keeps the page out of the back/forward cache. Who leaves by a click takes longer; and
/// to have the lock again takes a millisecond.
constexpr double rest_after_ms = 25;

/// An epoch is a count of adoptions times this, plus a random number below it, as a ballot of Paxos
/// is a count and its proposer (Lamport, 1998). Of two adoptions that began with the same former
/// epoch at most one has happened. An equal epoch in the row shows that it is the own one, a lower one
/// that it is not; a higher one decides nothing, since tabs of version 0.1.0 add 1 to an epoch. Without
/// the random number, a replica that does not know whether its adoption has happened could take
/// another's row for its own.
constexpr std::int64_t epochs_in_adoption = std::int64_t{1} << 20;

}  // namespace

Task<void> Replica::ensure_adopted() {
    while (adopting_) {
        const Completer<Unit> finished;
        adoption_waiters_.push_back(finished);
        co_await finished.async();
    }
    if (holder_ && !resting()) co_return;
    adopting_ = true;
    auto adopted = co_await attempt(adopt());
    while (std::exchange(slot_exhausted_, false)) adopted = co_await attempt(adopt());
    adopting_ = false;
    complete(adoption_waiters_);
    rest_soon();
    if (!adopted) co_await fail(adopted.error());
}

/// Adopts a slot in one transaction, which finds out which database this is, brings back what a lost
/// one held, ends the former epoch, begins the own, and commits what is dirty. A replica that rested
/// and gets its slot's lock again needs no transaction: its epoch goes on.
Task<void> Replica::adopt() {
    // The rows of the former epoch can only be settled once every commit under it has an outcome.
    while (commits_in_flight_ > 0) {
        const Completer<Unit> outcome;
        outcome_waiters_.push_back(outcome);
        co_await outcome.async();
    }
    co_await take_slot_lock();
    if (holder_) co_return;
    const auto durability = durability_of_dirty();
    constexpr Stores scope{Store::meta, Store::claims, Store::rows, Store::quarantine};
    const auto transaction = co_await world_.database().begin(scope, Access::write, durability);

    Notice loss;
    bool made = false;
    const auto generation = co_await settle_generation(*transaction, loss, made);
    co_await settle_unknown_commits(*transaction, generation);
    const bool first_or_new = generation != generation_;
    if (first_or_new) loss.recovered = co_await recover(*transaction, generation);

    HolderRecord holder{generation, slot_, co_await next_epoch(*transaction, slot_)};
    transaction->claim(subject_of_slot(slot_), format_holder(holder));
    // Nothing is committed with a generation made here: if the outcome remained unknown, a database
    // that vanished could not be told from one that never had that generation.
    std::list<CommitRow> rows;
    if (!made) rows = gather(durability);
    co_await commit_adoption(*transaction, holder, rows);

    generation_ = generation;
    data_loss_.clear();
    begin_epoch(std::move(holder));
    forget_first_rows(rows);
    for (const auto& row : rows) set_base(*row.state, row.base);
    const bool lost = suspended_ || slot_lock_lost_;
    if (suspended_) slot_lock_.reset();
    if (lost) lose_slot();
    // The generation first, so that once a flush has resolved, a loss of the database is noticed.
    (void)co_await attempt(backup_.set_generation(generation));
    committed(rows);
    co_await back_up(rows);
    const bool other = loss.kind == Notice::Kind::store_lost;
    if (other) on_notice_(loss);
    if (loss.recovered > 0) post({Message::Kind::recovered, "", "", {}});
    if (!suspended_ && (made || other || loss.recovered > 0)) reload_all();
    if (lost) {
        co_await fail(ErrorCode::fenced, "the slot was stolen, or released with the page hidden");
    }
}

/// Puts `rows` on their bases, and commits. If that fails, nothing has been adopted, as far as is
/// known.
Task<void> Replica::commit_adoption(Transaction& transaction, const HolderRecord& holder,
                                    std::list<CommitRow>& rows) {
    for (auto& row : rows) {
        row.base = co_await stored_base(transaction, row_key(row.state->key, row_of(holder)));
    }
    put_first_rows(transaction, holder, rows);
    const auto outcome = co_await attempt(transaction.commit());
    if (outcome) co_return;
    if (outcome.error().code() == ErrorCode::unknown_commit) {
        end_epoch();
    } else {
        forget_first_rows(rows);
    }
    co_await fail(outcome.error());
}

/// The lowest slot that is free. Without Web Locks a free slot looks like a taken one, so
/// that the replica makes one of its own, and storage grows with the tabs ever opened.
Task<void> Replica::take_slot_lock() {
    if (std::exchange(slot_lock_lost_, false)) slot_lock_.reset();
    if (resting()) {
        co_await request_slot_lock();
        if (!slot_lock_) lose_slot();
    }
    if (slot_lock_) co_return;
    if (!world_.locks().available()) {
        if (slot_.empty()) slot_ = identifier_of(world_.random().bits());
        co_return;
    }
    for (int number = slot_first_; number < slots_max; ++number) {
        slot_ = format_value(number);
        co_await request_slot_lock();
        if (slot_lock_) co_return;
    }
    co_await fail(ErrorCode::unavailable, "no slot is free: close other tabs");
}

Task<void> Replica::request_slot_lock() {
    slot_lock_ =
        co_await world_.locks().request({.name = names_.slot_lock(slot_), .if_available = true});
    if (!slot_lock_) co_return;
    slot_lock_->on_lost([this] {
        slot_lock_lost_ = true;
        lose_slot();
        warn("slot-lost", "Another script stole the lock of this tab's slot; it takes another.",
             slot_);
        if (dirty()) schedule_turn();
    });
}

/// True when the slot is this replica's until another adopts it, from which no lock keeps it.
bool Replica::resting() { return holder_ && !slot_lock_ && world_.locks().available(); }

void Replica::rest_soon() {
    if (!rests_soon_ && world_.lifecycle().locks_bar_cache()) scope_.spawn(rest());
}

/// Lets the lock go, and keeps the epoch: under it the last increments are committed while the page
/// is hidden, and the next ones without another adoption.
Task<void> Replica::rest() {
    rests_soon_ = true;
    std::uint64_t before = 0;
    do {
        before = commits_;
        // A hidden page's timers take a second, and nobody clicks there.
        if (!world_.lifecycle().hidden()) co_await world_.clock().sleep(rest_after_ms);
    } while (before != commits_);
    rests_soon_ = false;
    if (!committing_ && !adopting_ && commits_in_flight_ == 0 && !dirty()) slot_lock_.reset();
}

/// For a newer epoch that was announced or read: a replica that rests gives the row up to its new
/// owner. False while the row must stay this replica's own.
bool Replica::give_up_row(std::int64_t epoch) {
    const auto unsettled = [](const auto& state) { return !state.unknown.empty(); };
    if (epoch <= row_epoch_ || !resting() || adopting_ || commits_in_flight_ > 0 ||
        std::any_of(counters_.begin(), counters_.end(), unsettled)) {
        return false;
    }
    lose_slot();
    end_epoch();
    return true;
}

/// Above the former holder's and above every row of the slot, so that no row of the new epoch is
/// taken for an older one, even if the claim was corrupted.
Task<std::int64_t> Replica::next_epoch(Transaction& transaction, std::string_view slot) {
    std::int64_t epoch = row_epoch_;
    const auto former = co_await transaction.holder(subject_of_slot(slot));
    if (former) {
        transaction.release(*former);
        const auto record = parse_holder(*former);
        if (record) {
            epoch = std::max(epoch, record->epoch);
        } else {
            warn_unreadable("claims", *former);
        }
    }
    if (!former || !parse_holder(*former)) {
        for (const auto& row : co_await transaction.list(Store::rows, "")) {
            const auto key = parse_row_key(row.key);
            const auto record = parse_totals(row.value);
            if (key && record && key->row.ends_with(concat({"/", slot}))) {
                epoch = std::max(epoch, record->epoch);
            }
        }
    }
    const auto adoptions = epoch / epochs_in_adoption + 1;
    if (adoptions > epoch_max / epochs_in_adoption) {
        pass_over_slot();
        co_await fail(ErrorCode::fenced, "the epochs of the slot are exhausted");
    }
    const auto random = static_cast<std::int64_t>(world_.random().bits() % epochs_in_adoption);
    const auto first = adoptions * epochs_in_adoption;
    co_return first + random;
}

/// Nobody comes to the last epoch by counting: a stranger wrote it. What the slot's rows hold
/// counts, and nobody can own them any more.
void Replica::pass_over_slot() {
    warn("corrupt-record", "The epochs of a slot are exhausted; this tab takes another.", slot_);
    slot_first_ = static_cast<int>(parse_value(slot_).value_or(0)) + 1;
    slot_lock_.reset();
    slot_.clear();
    slot_exhausted_ = true;
}

std::string Replica::row_of(const HolderRecord& holder) {
    return concat({holder.generation, "/", holder.slot});
}

void Replica::begin_epoch(HolderRecord holder) {
    end_epoch();
    row_ = row_of(holder);
    row_epoch_ = holder.epoch;
    holder_ = std::move(holder);
}

/// The own rows go back among the others; what was not committed waits for a row of the next epoch.
void Replica::end_epoch() {
    for (auto& state : counters_) {
        if (state.based) {
            state.row_cache.merge_committed(row_, {row_epoch_, state.committed});
        }
        state.attempted = state.attempted - state.committed;
        state.committed = {};
        state.based = false;
    }
}

void Replica::lose_slot() { holder_.reset(); }

/// Did a commit happen whose outcome was never reported? The row shows it: in our epoch it is our
/// own writing, and under a newer owner it has grown from what we left, so that a row that holds
/// less refutes the commit. A newer row that holds as much proves nothing: rather than count twice
/// we leave out what no flush has promised, and fail the waiting flushes.
Task<void> Replica::settle_unknown_commits(Transaction& transaction, std::string_view generation) {
    for (auto& state : counters_) {
        // One that a replica which rested began meanwhile becomes unknown only with this
        // transaction.
        for (const auto& commit : state.unknown) {
            bool happened = true;
            std::optional<TotalsRecord> stored;
            if (commit.row.starts_with(concat({generation, "/"}))) {
                const auto row =
                    co_await transaction.get(Store::rows, row_key(state.key, commit.row));
                stored = row ? parse_totals(row->value) : std::nullopt;
                happened = stored && stored->epoch >= commit.record.epoch &&
                           larger(stored->totals, commit.record.totals) == stored->totals;
                if (happened && stored->epoch > commit.record.epoch) {
                    fail_unknown(state);
                    warn("unknown-commit", "A commit was cut off, and its row has a newer owner.",
                         commit.row);
                }
            }
            // A row of a vanished database: count it there, from where recover() brings it back.
            if (happened && commit.adopts()) {
                // Its epoch is over, so that the row is one of the others.
                state.attempted = state.attempted - commit.increments;
                state.row_cache.merge_committed(commit.row, stored.value_or(commit.record));
                confirm(state, state.committed, commit.through);
                revalue(state);
            } else if (happened && commit.row == row_) {
                confirm(state, commit.record.totals, commit.through);
            }
        }
        state.unknown.clear();  // not before: the transaction may fail while it is asked
    }
}

}  // namespace tabacus
