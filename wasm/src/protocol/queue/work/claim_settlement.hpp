// ClaimSettlement: settles the jobs of a slot's claim that have ended, and decides which of its
// other jobs stay claimed, within one transaction.
//
//   a job of the claim   before the transaction           what the transaction does
//   runs                 begun, and not ended             it stays claimed, before all others
//   ended                begun, and ended                 it is removed; its followers are enqueued
//   stays                ended, and postponed             it stays claimed
//   returned             not begun                        its row is no longer claimed
//   gone                 ended or not begun, but its row  nothing: its outcome is ignored
//                        was removed or changed
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../job_intake.hpp"
#include "held_slot.hpp"
#include "slot_turn.hpp"

namespace tabacus {

class ClaimSettlement {
  public:
    ClaimSettlement(QueueRows& rows, HeldSlot& held_slot, SlotTurn& turn)
        : rows_(rows), held_slot_(held_slot), turn_(turn), intake_(rows) {}

    /// Returns the reason if the followers of a job were refused. Nothing may be committed then.
    Task<std::optional<Error>> settle();

  private:
    enum class State : std::uint8_t { returned, ended, runs, stays, gone };

    void find_states();
    Task<void> reread_claimed();
    void remove_finished();
    Task<void> remove_keys();
    void part_rows(bool removed);
    Task<std::optional<Error>> end_jobs();
    Task<std::optional<Error>> end_job(const Job& job, const JobOutcome& outcome);
    void report_current();

    QueueRows& rows_;
    HeldSlot& held_slot_;
    SlotTurn& turn_;
    JobIntake intake_;
    std::vector<State> states_;  // of Claim::jobs
};

}  // namespace tabacus
