// TurnTaker: a turn of a worker, one transaction over its slot, in which what has ended is settled
// and what comes next is claimed.
//
// The slot's row fences the turns: each finds the row as the one before has left it, or does
// nothing. A worker that had the slot before, and does not know that another one has it, settles
// and claims nothing.
//
//   the slot's row has            the turn
//   the worker's last turn        settles what has ended, and claims
//   another turn, slot is fresh   first gives back what the former holder had claimed
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

    /// `exit`: what the former holder has recorded of its exit. `turn` says what was done.
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
