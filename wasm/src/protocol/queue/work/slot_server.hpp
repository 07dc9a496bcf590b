// SlotServer: serves a slot from the grant of its lock to its release.
//
//   state      meaning                                   what ends the state
//   claiming   a turn settles jobs that have ended, and  it claims jobs: running; it claims none:
//              claims the next ones                      released; the slot was served for
//                                                        slot_slice_ms, and other tabs handle kinds
//                                                        that this one does not: released; it
//                                                        postpones a job (job_selector.hpp):
//                                                        claiming
//   running    the jobs of the claim run                 they have ended: claiming
//   released   the slot's row is for the next holder     nothing
//   lost       the run loses its claim; a clean exit is  nothing
//              recorded for the next holder
#pragma once

#include <string>

#include "job_runner.hpp"

namespace tabacus {

class SlotServer {
  public:
    explicit SlotServer(const SlotSettler::Parts& parts)
        : parts_(parts),
          settler_(parts),
          runner_({parts.open, parts.runs, parts.signal, parts.news, parts.kinds, settler_}) {}

    /// Requires that the slot's lock is held. Fails if a turn does.
    Task<void> serve(HeldSlot& held_slot);

  private:
    void subscribe_to_loss(const HeldSlot& held_slot);
    Task<void> record_exit(int slot, std::string exit);

    SlotSettler::Parts parts_;
    SlotSettler settler_;
    JobRunner runner_;
};

}  // namespace tabacus
