#include "slot_server.hpp"

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// A tab that does not handle all kinds of jobs releases its slot after this time.
constexpr double slot_slice_ms = 50;

/// Whether a worker loses its slot for this reason without a crash, so that no job has caused it.
bool is_clean_exit(std::string_view reason) {
    return reason == "frozen" || reason == "page-hidden" || reason == "closed";
}

}  // namespace

Task<void> SlotServer::serve(HeldSlot& held_slot) {
    held_slot.taken_ms = parts_.open.monotonic_ms();
    subscribe_to_loss(held_slot);
    while (held_slot.held.held()) {
        const auto age_ms = parts_.open.monotonic_ms() - held_slot.taken_ms;
        const bool yields = held_slot.worked && held_slot.other_kinds && age_ms > slot_slice_ms;
        const bool claiming = parts_.kinds.working() && !yields;
        auto settled =
            co_await attempt(held_slot.fresh ? settler_.take_first_turn(held_slot, claiming)
                                             : settler_.settle_and_claim(held_slot, claiming));
        if (!settled) {
            const Error error = settled.error();
            if (!held_slot.held.held() || error.code() == ErrorCode::fenced) co_return;
            co_await fail(error);
        }
        if (held_slot.claim.jobs.empty()) {
            if (held_slot.strict) continue;
            if (yields) parts_.signal.wake();
            co_return;
        }
        co_await runner_.run_all(held_slot);
        held_slot.worked = true;
    }
}

void SlotServer::subscribe_to_loss(const HeldSlot& held_slot) {
    held_slot.held.on_lost(
        [this, slot = held_slot.slot, worker = held_slot.worker](std::string_view reason) {
            if (const auto run = worker->run.lock()) parts_.runs.lose(*run, reason);
            if (!is_clean_exit(reason)) return;
            parts_.open.context.scope.spawn(
                record_exit(slot, format_exit(worker->turn, worker->next_turn)));
        });
}

/// Records a clean exit in localStorage for the next holder of the slot, because the page may have
/// no time to write the slot's row.
Task<void> SlotServer::record_exit(int slot, std::string exit) {
    const auto& context = parts_.open.context;
    const auto name = context.names.queue_exit(parts_.open.key, format_decimal(slot));
    (void)co_await attempt(context.world.storage().set(name, exit));
}

}  // namespace tabacus
