// SlotSettler: takes turns over a slot until all jobs that have ended are settled, even if turns
// fail.
//
//   a turn                          what follows
//   is committed                    done; or the next turn, for the first job that is postponed
//   may have been committed         the slot's row shows whether it was: done, or another turn
//   failed for a temporary reason   another turn, up to queue_attempts_max
//   failed, because the followers   another turn, in which that job has failed
//   of a job were refused
//   failed, as the disk is full     another turn, which writes less (unsettled_jobs.hpp)
//   failed for another reason       the failure; the next holder gives back what is not settled
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

    /// Settles the jobs of the slot's claim that have ended. Claims the next jobs if `claiming`.
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
