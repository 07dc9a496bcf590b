#include "turn_taker.hpp"

#include <algorithm>
#include <map>

#include "claim_settlement.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

std::optional<SlotRow> own_row(const std::string& key, const std::vector<Row>& slots) {
    const auto row = std::find_if(slots.begin(), slots.end(),
                                  [&](const Row& other) { return other.key == key; });
    return row == slots.end() ? std::nullopt : parse_slot_row(row->value);
}

}  // namespace

std::string slot_key(const std::string& queue, int slot) {
    return concat({queue, "/s/", format_decimal(slot)});
}

Task<void> TurnTaker::take(HeldSlot& held_slot, bool claiming, std::string exit, SlotTurn& turn) {
    held_slot.worker->next_turn = turn.id;
    const auto durability = held_slot.strict ? Durability::strict : open_.options.durability;
    if (held_slot.held.token()) {
        auto fenced = co_await held_slot.held.begin({Store::jobs, Store::quarantine}, durability);
        const bool writes = co_await act(fenced.transaction(), held_slot, claiming, exit, turn);
        if (!writes) co_return;
        announce(turn);
        co_await fenced.commit();
    } else {
        const auto transaction = co_await open_.begin({Store::jobs, Store::data, Store::quarantine},
                                                      Access::write, durability);
        const bool writes = co_await act(*transaction, held_slot, claiming, exit, turn);
        if (!writes) co_return;
        if (!held_slot.held.held()) {
            co_await fail(ErrorCode::lock_lost, "the slot was lost; nothing was kept");
        }
        announce(turn);
        co_await transaction->commit();
    }
    held_slot.worker->turn = turn.id;
}

/// Announces the commit of a turn after which other tabs may find jobs to run. A tab that only
/// waits for an outcome polls, and needs no announcement.
void TurnTaker::announce(const SlotTurn& turn) const {
    const auto& events = turn.changes.events;
    const bool makes_work = std::any_of(events.begin(), events.end(), [](const auto& event) {
        return event.kind != QueueEvent::Kind::done && event.kind != QueueEvent::Kind::running;
    });
    if (makes_work) open_.announce_commit();
}

/// Does everything of the transaction except its commit. Returns false if there is nothing to
/// commit.
Task<bool> TurnTaker::act(Transaction& transaction, HeldSlot& held_slot, bool claiming,
                          std::string exit, SlotTurn& turn) {
    auto rows = open_.rows(transaction, turn.changes);
    // All reads are requested before the first answer is awaited, which is faster.
    auto slots_read = transaction.list(Store::jobs, rows.key("s/"));
    std::optional<Async<std::vector<Row>>> outcomes_read;
    if (held_slot.slot == 0 && sweeper_.due(held_slot.fresh)) {
        outcomes_read = transaction.list(Store::jobs, rows.key("o/"), OutcomeSweeper::read_max);
    }
    co_await rows.read_head();
    const auto slots = co_await std::move(slots_read);
    const auto key = slot_key(open_.key, held_slot.slot);
    const auto own = own_row(key, slots);
    const auto last_turn = own ? own->turn : std::string();
    if (!held_slot.held.held() || (!held_slot.fresh && last_turn != held_slot.worker->turn)) {
        co_await fail(ErrorCode::fenced, "another worker has the slot; nothing was kept");
    }
    if (held_slot.fresh && own) co_await recover(rows, held_slot, *own, exit);
    if (outcomes_read) sweeper_.sweep(rows, co_await std::move(*outcomes_read));
    const auto refusal = co_await ClaimSettlement(rows, held_slot, turn).settle();
    if (refusal) co_await fail(*refusal);
    turn.paused = rows.head.paused != QueueHead::Paused::no;
    if (claiming && !turn.paused) co_await selector_.select(rows, slots, held_slot, turn);
    turn.other_kinds = std::any_of(rows.head.kinds.begin(), rows.head.kinds.end(),
                                   [&](const auto& kind) { return !kinds_.handles(kind.name); });
    if (rows.touched) {
        co_await rows.write_head();
    } else {
        rows.stamp_events();
    }
    turn.claim.edits = rows.head.edits;
    turn.version = rows.head.version;
    turn.count = rows.head.count;
    const auto& recorded = turn.claim.recorded;
    const bool same = held_slot.fresh ? recorded.empty() : recorded == held_slot.claim.recorded;
    if (same && !rows.touched) {
        held_slot.worker->turn = last_turn;
        co_return false;
    }
    put_record(rows, key, format_slot_row({turn.id, open_.context.tab, recorded}));
    co_return true;
}

/// Gives back the jobs that the former holder had claimed and did not settle. Counts the loss of
/// its worker (Job::lost_workers), unless that worker belonged to this tab or exited cleanly, or
/// the disk is full.
Task<void> TurnTaker::recover(QueueRows& rows, const HeldSlot& held_slot, const SlotRow& former,
                              const std::string& exit) const {
    const bool left = former.tab == open_.context.tab || exit_names_turn(exit, former.turn);
    const bool unchanged = held_slot.return_unchanged || left;
    std::map<std::string_view, std::pair<std::string_view, Async<std::optional<Row>>>> reads;
    for (const auto& [position, id] : former.entries) {
        auto read = rows.transaction.get(Store::jobs, rows.key(position));
        reads.try_emplace(position, id, std::move(read));
    }
    for (auto& [position, asked] : reads) {
        auto& [id, read] = asked;
        const auto found = co_await std::move(read);
        auto jobs = found ? rows.jobs_of(*found) : std::vector<Job>();
        rows.touched = true;  // so that the slot's row is written
        if (!jobs.empty() && jobs.front().id == id) rows.give_back(std::move(jobs), unchanged);
    }
}

}  // namespace tabacus
