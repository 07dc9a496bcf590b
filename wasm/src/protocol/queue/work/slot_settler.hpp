// SlotSettler: takes turns over a slot until what has ended is settled, however a turn fails.
//
//   a turn                          what follows
//   is committed                    done; or the next turn, for the first job that is postponed
//   may have been committed         the slot's row tells: done, or another turn
//   failed for a passing reason     another turn, up to queue_attempts_max
//   failed: what a job gives is     another turn, in which that job has failed
//   refused
//   failed: the disk is full        another turn, which writes less (unsettled_jobs.hpp)
//   failed otherwise                the failure: what was not settled is the next holder's
#pragma once

#include <string>
#include <vector>

#include "../outcomes/queue_news.hpp"
#include "protocol/queue/work/first_turns.hpp"
#include "turn_taker.hpp"
#include "worker_slots.hpp"

namespace tabacus {

class SlotSettler {
  public:
    struct Parts {
        OpenQueue& open;
        QueueStatus& status;
        AwaitedOutcomes& awaited;
        JobRuns& runs;
        WorkSignal& signal;
        QueueNews& news;
        const HandledKinds& kinds;
        WorkerSlots& slots;
    };
    explicit SlotSettler(const Parts& parts) : parts_(parts), turns_(parts.open, parts.kinds) {}

    /// Settles what has ended of the slot's claim, and claims what comes next if `claiming`.
    Task<void> settle_and_claim(HeldSlot& held_slot, bool claiming);
    /// Does what settle_and_claim() does for a slot that was just granted. Does nothing if this tab
    /// knows that there is nothing to do (first_turns.hpp).
    Task<void> take_first_turn(HeldSlot& held_slot, bool claiming);

  private:
    void adopt(HeldSlot& held_slot, SlotTurn& turn, bool last);
    void report(SlotTurn& turn);
    Task<bool> resolve_failure(HeldSlot& held_slot, SlotTurn& turn, Error error, int& tried);
    Task<bool> was_committed(HeldSlot& held_slot, std::string turn);
    Task<std::string> read_slot(HeldSlot& held_slot);
    Task<std::string> take_exit(int slot);
    Task<void> drain_orphan(int slot);

    Parts parts_;
    TurnTaker turns_;
    FirstTurns first_turns_;
};

}  // namespace tabacus
