// TurnTaker: takes a turn of a worker. A *turn* is one transaction over the worker's slot: it
// settles the jobs that have ended, and claims the next ones.
//
// The slot's row fences the turns: a turn does nothing unless it finds the row as this worker's
// last turn has left it. So a worker that has lost the slot without knowing it settles and claims
// nothing.
//
//   the slot's row has            the turn
//   the worker's last turn        settles what has ended, and claims
//   another turn, slot is fresh   first gives back the jobs that the former holder had claimed
//   another turn, not fresh       fails with fenced
//
// A turn that changes nothing commits nothing.
#pragma once

#include <optional>
#include <string>

#include "job_selector.hpp"
#include "protocol/queue/outcomes/outcome_sweeper.hpp"

namespace tabacus {

class TurnTaker {
  public:
    TurnTaker(OpenQueue& open, const HandledKinds& kinds)
        : open_(open), kinds_(kinds), selector_(open, kinds), sweeper_(open) {}

    /// `exit` is the record of the former holder's clean exit, or empty. Fills `turn` with what was
    /// done.
    Task<void> take(HeldSlot& held_slot, bool claiming, std::string exit, SlotTurn& turn);

  private:
    Task<bool> act(Transaction& transaction, HeldSlot& held_slot, bool claiming, std::string exit,
                   SlotTurn& turn);
    void announce(const SlotTurn& turn) const;
    Task<void> recover(QueueRows& rows, const HeldSlot& held_slot, const SlotRow& former,
                       const std::string& exit) const;

    OpenQueue& open_;
    const HandledKinds& kinds_;
    JobSelector selector_;
    OutcomeSweeper sweeper_;
};

/// Returns the key of the row of what a slot has claimed.
std::string slot_key(const std::string& queue, int slot);

}  // namespace tabacus
