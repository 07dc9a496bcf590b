#include "adoption.hpp"

#include <algorithm>

#include "commit_retries.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/erase_selected.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// Ends an adoption whose slot has no epoch for this replica, which tries another slot.
Failing pass_slot_over(ReplicaSlot& slot, const char* why) {
    slot.pass_over();
    return fail(ErrorCode::fenced, why);
}

/// Returns an epoch for the named `slot` above its former holder's, so that no row of the new epoch
/// is taken for an older one. If the claim is missing or damaged, the epoch is above that of every
/// row of the slot. If the claim, or one of those rows, is of a newer version, the slot is passed
/// over.
Task<std::int64_t> next_epoch(ReplicaSlot& slot, ReplicaNotices& notices, ReplicaNews& news,
                              Random& random, Transaction& transaction) {
    std::int64_t epoch = slot.epoch();
    const auto former = co_await transaction.holder(subject_of_slot(slot.name()));
    constexpr const char* newer_holder = "the slot belongs to a newer version";
    if (former) {
        if (is_newer(*former)) co_await pass_slot_over(slot, newer_holder);
        transaction.release(*former);
        const auto record = parse_holder(*former);
        if (record) {
            epoch = std::max(epoch, record->epoch);
        } else {
            notices.warn_unreadable("claims", *former);
        }
    }
    if (!former || !parse_holder(*former)) {
        for (const auto& row : co_await transaction.list(Store::rows, "")) {
            const auto key = parse_row_key(row.key);
            if (!key || !key->row.ends_with(concat({"/", slot.name()}))) continue;
            if (is_newer(row.value)) co_await pass_slot_over(slot, newer_holder);
            const auto record = parse_totals(row.value);
            if (record) epoch = std::max(epoch, record->epoch);
        }
    }
    if (epoch > 0 && epoch < epochs_per_adoption) news.expect_older_version();
    const auto next = epoch_after(epoch, random);
    if (!next) {
        // No replica reaches the last epoch by counting: another script wrote it. What the slot's
        // rows hold counts, and no replica can own them any more.
        notices.warn("corrupt-record",
                     "The epochs of a slot are exhausted; this tab takes another.", slot.name());
        co_await pass_slot_over(slot, "the epochs of the slot are exhausted");
    }
    co_return *next;
}

/// Puts the first rows of the epoch that `transaction` begins; each continues what the stored row
/// held. Until the outcome of the transaction is reported, these rows are commits of unknown
/// outcome, and nothing else of the replica's state changes.
void put_first_rows(Transaction& transaction, const HolderRecord& holder,
                    std::list<CommitRow>& rows) {
    const auto row_id = ReplicaSlot::row_of(holder);
    for (auto& row : rows) {
        row.totals = row.base + row.increments;
        const TotalsRecord record{holder.epoch, row.totals};
        transaction.put(Store::rows, row_key(row.state->key, row_id), format_totals(record));
        row.state->unknown.push_back({row_id, record, row.through, row.increments});
    }
}

/// Removes first rows from the commits of unknown outcome, once their outcome is reported.
void forget_first_rows(const std::list<CommitRow>& rows) {
    for (const auto& row : rows) {
        erase_selected(row.state->unknown, [](const auto& commit) { return commit.adopts(); });
    }
}

/// Adds to each of `rows` its base, and commits them. If that fails, nothing has been adopted, as
/// far as is known.
Task<void> commit_adoption(Replica& replica, Transaction& transaction, const HolderRecord& holder,
                           std::list<CommitRow>& rows) {
    for (auto& row : rows) {
        row.base = co_await stored_base(replica, transaction, *row.state, holder);
    }
    put_first_rows(transaction, holder, rows);
    const auto outcome = co_await attempt(transaction.commit());
    if (outcome) co_return;
    if (outcome.error().code() == ErrorCode::unknown_commit) {
        replica.slot.end_epoch(replica.counters);
    } else {
        forget_first_rows(rows);
    }
    co_await fail(outcome.error());
}

/// Reports the loss of the database, if there was one, and what this tab has put back into it.
/// `made`: whether this tab has made the generation.
void report_changes(Replica& replica, const Notice& loss, bool made) {
    const bool store_lost = loss.kind == Notice::Kind::store_lost;
    if (store_lost) replica.notices.report(loss);
    if (loss.recovered > 0) {
        post(replica, {format_message({Message::Kind::recovered, "", "", {}})});
    }
    if (replica.active() && (made || store_lost || loss.recovered > 0)) reload_all(replica);
}

Task<void> adopt(Replica& replica) {
    auto& slot = replica.slot;
    // The rows of the former epoch can only be settled once every commit under it has an outcome.
    while (replica.committer.in_flight()) co_await replica.committer.next_outcome();
    co_await take_slot_lock(replica);
    if (slot.adopted()) co_return;
    const auto durability = replica.counters.durability_of_dirty();
    constexpr Stores scope{Store::meta, Store::claims, Store::rows, Store::quarantine};
    const auto transaction =
        co_await replica.world.database().begin(scope, Access::write, durability);

    Notice loss;
    bool made = false;
    const auto generation = co_await replica.generation.settle(
        *transaction, replica.backup, replica.notices, replica.world.random(), loss, made);
    co_await settle_unknown_commits(replica, *transaction, generation);
    const bool store_lost = loss.kind == Notice::Kind::store_lost;
    const bool first_or_new = generation != replica.generation.id();
    if (first_or_new)
        loss.recovered = co_await recover(*transaction, generation, replica.backup,
                                          replica.counters, slot, made || store_lost);

    HolderRecord holder{generation, slot.name(),
                        co_await next_epoch(slot, replica.notices, replica.news,
                                            replica.world.random(), *transaction)};
    transaction->claim(subject_of_slot(slot.name()), format_holder(holder));
    // If this transaction makes the generation, it commits no rows. Otherwise, if its outcome were
    // unknown and the database vanished, the loss could not be distinguished from a transaction
    // that never happened.
    std::list<CommitRow> rows;
    if (!made) rows = replica.counters.gather(durability, single_bases_max);
    co_await commit_adoption(replica, *transaction, holder, rows);

    replica.generation.adopt(generation);
    slot.end_epoch(replica.counters);
    slot.begin_epoch(std::move(holder));
    forget_first_rows(rows);
    for (const auto& row : rows) set_base(replica, *row.state, row.base);
    const bool lost = !replica.active() || slot.lock_lost();
    if (!replica.active()) slot.unlock();
    if (lost) slot.lose();
    // The backup gets the generation before a flush resolves, so that a loss of the database after
    // that flush is noticed.
    (void)co_await attempt(replica.backup.set_generation(generation));
    replica.committer.committed(rows);
    co_await back_up(replica.backup, replica.notices, slot, rows);
    report_changes(replica, loss, made);
    if (lost) co_await fail_slot_lost();
}

}  // namespace

Task<void> ensure_adopted(Replica& replica) {
    auto& adoption = replica.adoption;
    while (adoption.running()) co_await adoption.ended();
    if (replica.slot.adopted() && !resting(replica)) co_return;
    adoption.begin();
    auto adopted = co_await attempt(adopt(replica));
    // A slot that is passed over, or was stolen meanwhile, is replaced by another one.
    for (int tried = 1; !adopted && adopted.error().code() == ErrorCode::fenced &&
                        (replica.slot.take_passed_over() ||
                         (replica.active() && ++tried <= fenced_attempts_max));) {
        adopted = co_await attempt(adopt(replica));
    }
    adoption.end();
    rest_soon(replica);
    if (!adopted) co_await fail(adopted.error());
}

}  // namespace tabacus
