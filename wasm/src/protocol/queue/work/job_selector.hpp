// JobSelector: chooses the jobs that a slot claims: the first ones, by priority and rank, of the
// kinds that this tab handles.
//
//   a job is passed over   if another slot has claimed it
//   a job ends the claim   if the claim has as many jobs as ClaimSize allows; if the job must be
//                          claimed alone, or its row must be split, and it is not the first; or if
//                          a worker was lost with the job, and suspects_max such jobs are claimed
//   a job is postponed     if it must begin at most once, and the turn is not strictly durable; the
//                          next turn is, and claims it
//
// If the head is wrong, it hides rows. Therefore all rows are listed every work_again_ms, whatever
// the head says.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "handled_kinds.hpp"
#include "held_slot.hpp"
#include "slot_turn.hpp"

namespace tabacus {

class JobSelector {
  public:
    JobSelector(OpenQueue& open, const HandledKinds& kinds) : open_(open), kinds_(kinds) {}

    /// Claims jobs for the slot, and adds them to `turn`. `slots` are the rows of all slots.
    Task<void> select(QueueRows& rows, const std::vector<Row>& slots, const HeldSlot& held_slot,
                      SlotTurn& turn);

  private:
    using OrderedRows = std::vector<std::pair<std::string, Row>>;  // by the order in their keys
    Task<OrderedRows> first_rows(QueueRows& rows, std::size_t limit);

    OpenQueue& open_;
    const HandledKinds& kinds_;
    std::optional<double> searched_ms_;  // when all rows were listed
};

}  // namespace tabacus
