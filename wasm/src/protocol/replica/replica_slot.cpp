#include "replica_slot.hpp"

#include "protocol/common/concat.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// More tabs than any browser runs. With a bound, a lock manager that refuses everything causes an
/// error instead of an endless loop.
constexpr int slots_max = 4096;

/// A replica with nothing to write keeps its slot's lock for one to two of these, where the lock
/// keeps the page out of the back/forward cache. A user who leaves the page by a click takes longer
/// than that. Acquiring the lock again takes a millisecond.
constexpr double rest_after_ms = 25;

Task<void> request_slot_lock(Replica& replica) {
    auto& slot = replica.slot;
    slot.set_lock(co_await replica.world.locks().request(
        {.name = replica.names.slot_lock(slot.name()), .if_available = true}));
    if (!slot.locked()) co_return;
    slot.on_lock_lost([&replica] {
        replica.slot.lose_lock();
        if (replica.slot.take_warning(replica.world.clock().monotonic_ms())) {
            replica.notices.warn(
                "slot-lost", "Another script stole the lock of this tab's slot; it takes another.",
                replica.slot.name());
        }
        if (replica.counters.dirty()) replica.schedule_turn();
    });
}

Task<void> rest(Replica& replica) {
    auto& committer = replica.committer;
    replica.slot.set_rests_soon(true);
    std::uint64_t before = 0;
    do {
        before = committer.commits();
        // A hidden page does not wait, because its timers take a second and no user clicks there.
        if (!replica.world.lifecycle().hidden()) {
            co_await replica.world.clock().sleep(rest_after_ms);
        }
    } while (before != committer.commits());
    replica.slot.set_rests_soon(false);
    if (committer.idle() && !replica.adoption.running() && !replica.counters.dirty()) {
        replica.slot.unlock();
    }
}

}  // namespace

std::optional<std::int64_t> epoch_after(std::int64_t former, Random& random) {
    const auto adoptions = former / epochs_per_adoption + 1;
    if (adoptions > epoch_max / epochs_per_adoption) return std::nullopt;
    const auto first = adoptions * epochs_per_adoption;
    const auto proposer = static_cast<std::int64_t>(random.bits() % epochs_per_adoption);
    return first + proposer;
}

void ReplicaSlot::begin_epoch(HolderRecord holder) {
    row_ = row_of(holder);
    epoch_ = holder.epoch;
    holder_ = std::move(holder);
}

std::string ReplicaSlot::row_of(const HolderRecord& holder) {
    return concat({holder.generation, "/", holder.slot});
}

void ReplicaSlot::pass_over() {
    first_ = static_cast<int>(parse_value(name_).value_or(0)) + 1;
    lose();
    unlock();
    name_.clear();
    passed_over_ = true;
}

Task<void> take_slot_lock(Replica& replica) {
    auto& slot = replica.slot;
    slot.drop_lost_lock();
    if (resting(replica)) {
        co_await request_slot_lock(replica);
        if (!slot.locked()) slot.lose();
    }
    if (slot.locked()) co_return;
    if (!replica.world.locks().available()) {
        if (slot.name().empty()) slot.set_name(identifier_of(replica.world.random().bits()));
        co_return;
    }
    for (int number = slot.first(); number < slots_max; ++number) {
        slot.set_name(format_value(number));
        co_await request_slot_lock(replica);
        if (slot.locked()) co_return;
    }
    co_await fail(ErrorCode::unavailable, "no slot is free: close other tabs");
}

[[gnu::noinline]] Failing fail_slot_lost() {
    return fail(ErrorCode::fenced, "the slot was stolen, or released with the page hidden");
}

bool resting(Replica& replica) { return replica.slot.resting(replica.world.locks().available()); }

void rest_soon(Replica& replica) {
    if (!replica.slot.rests_soon() && replica.world.lifecycle().locks_bar_cache()) {
        replica.scope.spawn(rest(replica));
    }
}

bool give_up_row(Replica& replica, std::int64_t epoch) {
    auto& slot = replica.slot;
    if (epoch <= slot.epoch() || !resting(replica) || replica.adoption.running() ||
        replica.committer.in_flight() || replica.counters.unsettled()) {
        return false;
    }
    slot.lose();
    slot.end_epoch(replica.counters);
    return true;
}

}  // namespace tabacus
