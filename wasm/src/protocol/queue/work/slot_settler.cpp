#include "slot_settler.hpp"

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// Prepares another turn after one that found the disk full. Returns whether it may fit.
bool narrow(HeldSlot& held_slot) {
    if (!held_slot.unsettled.finished.empty()) {
        return held_slot.unsettled.narrow(held_slot.claim.jobs);
    }
    return held_slot.fresh && !std::exchange(held_slot.return_unchanged, true);
}

}  // namespace

Task<void> SlotSettler::settle_and_claim(HeldSlot& held_slot, bool claiming) {
    auto& unsettled = held_slot.unsettled;
    unsettled.gather();
    std::string exit;
    if (held_slot.fresh) exit = co_await take_exit(held_slot.slot);
    for (int tried = 1;; ++tried) {
        SlotTurn turn(identifier_of(parts_.open.context.world.random().bits()));
        const bool last = unsettled.postponed.empty();
        const auto count = parts_.signal.count();
        auto taken = co_await attempt(turns_.take(held_slot, claiming && last, exit, turn));
        if (!taken && !co_await resolve_failure(held_slot, turn, taken.error(), tried)) continue;
        if (turn.searched && turn.claim.jobs.empty() && !turn.strict) {
            first_turns_.find_nothing(count, std::move(turn.claimed_slots));
        }
        adopt(held_slot, turn, last);
        report(turn);
        held_slot.interruptions = parts_.signal.interruptions();
        if (last) co_return;
        unsettled.forget_unfit();  // the settlement may have freed space
        unsettled.settle_next();
        tried = 0;
    }
}

Task<void> SlotSettler::take_first_turn(HeldSlot& held_slot, bool claiming) {
    co_await first_turns_.enter();
    std::optional<Error> failure;
    if (!first_turns_.in_vain(held_slot.slot, parts_.signal.count())) {
        const auto settled = co_await attempt(settle_and_claim(held_slot, claiming));
        if (!settled) failure = settled.error();
    }
    first_turns_.leave();
    if (failure) co_await fail(*failure);
}

/// Copies to the slot what the turn has changed. `last`: whether no job is postponed.
void SlotSettler::adopt(HeldSlot& held_slot, SlotTurn& turn, bool last) {
    auto& claim = held_slot.claim;
    held_slot.fresh = false;
    held_slot.unsettled.finished.clear();
    held_slot.strict = turn.strict;
    held_slot.other_kinds = turn.other_kinds;
    if (!held_slot.current && last) {
        claim = std::move(turn.claim);
        held_slot.size.learn(claim);
    } else {
        claim.rows = std::move(turn.claim.rows);
        claim.recorded = std::move(turn.claim.recorded);
    }
}

/// Passes on what the turn has found and done.
void SlotSettler::report(SlotTurn& turn) {
    parts_.status.paused = turn.paused;
    parts_.news.note(turn.version, turn.count);
    if (turn.next_due_ms) parts_.signal.wake_at(*turn.next_due_ms);
    for (const int slot : turn.orphans) {
        if (parts_.slots.occupy(slot)) parts_.open.context.scope.spawn(drain_orphan(slot));
    }
    parts_.news.publish(turn.changes);
}

/// Gives back the jobs of a slot whose number is beyond the queue's concurrency, once its holder is
/// gone. Such a slot belonged to tabs that used a larger concurrency.
Task<void> SlotSettler::drain_orphan(int slot) {
    auto held = co_await attempt(parts_.slots.request(slot));
    if (held) {
        HeldSlot held_slot(slot);
        held_slot.held = std::move(held.value());
        (void)co_await attempt(settle_and_claim(held_slot, false));
    }
    parts_.slots.release(slot);
}

/// Handles the failure of a turn. Returns true if the turn was committed after all, and false if
/// another turn has to follow. Fails if no other turn can help.
Task<bool> SlotSettler::resolve_failure(HeldSlot& held_slot, SlotTurn& turn, Error error,
                                        int& tried) {
    if (turn.refused) {
        // A job is settled together with its followers, or fails. Each such turn has one successful
        // job less than the one before, so it does not count as an attempt.
        held_slot.unsettled.refuse(*turn.refused, error.code(), error.what());
        --tried;
        co_return false;
    }
    if (error.code() == ErrorCode::quota_exceeded && narrow(held_slot)) {
        --tried;
        co_return false;
    }
    const bool unknown = error.code() == ErrorCode::unknown_commit;
    const bool passing = unknown || error.code() == ErrorCode::store_failed;
    const auto run = held_slot.worker->run.lock();
    const bool newer = error.code() == ErrorCode::version_mismatch;
    if ((error.code() == ErrorCode::fenced || newer) && run) {
        parts_.runs.lose(*run, newer ? "version-mismatch" : "fenced");
    }
    if (unknown) parts_.awaited.keep_unknown(turn.changes);
    if (!passing || tried == queue_attempts_max || !held_slot.held.held()) co_await fail(error);
    if (!unknown) co_return false;
    // Unknown outcomes are not resolved here, because another worker may have had a turn since.
    co_return co_await was_committed(held_slot, turn.id);
}

Task<bool> SlotSettler::was_committed(HeldSlot& held_slot, std::string turn) {
    for (int tried = 1;; ++tried) {
        auto row = co_await attempt(read_slot(held_slot));
        if (row && row.value() == turn) held_slot.worker->turn = turn;
        if (row) co_return row.value() == turn;
        const Error error = row.error();
        if (error.code() != ErrorCode::store_failed || tried == queue_attempts_max) {
            co_await fail(error);
        }
    }
}

/// Returns the turn that wrote the slot's row.
Task<std::string> SlotSettler::read_slot(HeldSlot& held_slot) {
    const auto transaction = co_await parts_.open.begin_read({Store::jobs});
    const auto row =
        co_await transaction->get(Store::jobs, slot_key(parts_.open.key, held_slot.slot));
    const auto slot = row ? parse_slot_row(row->value) : std::nullopt;
    co_return slot ? slot->turn : std::string();
}

/// Reads the exit that the previous holder recorded, and removes it.
Task<std::string> SlotSettler::take_exit(int slot) {
    const auto& context = parts_.open.context;
    auto& storage = context.world.storage();
    if (!storage.available()) co_return std::string();
    const auto name = context.names.queue_exit(parts_.open.key, format_decimal(slot));
    auto exit = co_await attempt(storage.get(name));
    if (!exit || !exit.value() || is_newer(*exit.value())) co_return std::string();
    (void)co_await attempt(storage.remove(name));
    co_return *std::move(exit.value());
}

}  // namespace tabacus
