// JobRunner: runs the jobs of a claim one after another, for as long as they are short.
//
//   state       meaning                                    what ends the state
//   quick       less than ahead_ms have passed since the   ahead_ms have passed: slow
//               first job began                            no job is left, a job was enqueued, a
//                                                          following one comes first, the claim is
//                                                          lost, or work stops: ended
//   slow        the job that runs is the last to begin     a turn gives back the others: alone
//                                                          the job has ended before that: ended
//   alone       nothing else is claimed or unsettled       the job has ended: ended
//   ended       what was not begun is given back by the    nothing
//               next turn
#pragma once

#include <memory>

#include "slot_settler.hpp"

namespace tabacus {

class JobRunner {
  public:
    struct Parts {
        OpenQueue& open;
        JobRuns& runs;
        WorkSignal& signal;
        QueueNews& news;
        const HandledKinds& kinds;
        SlotSettler& settler;
    };
    explicit JobRunner(const Parts& parts) : parts_(parts) {}

    /// Runs the jobs of the slot's claim, and leaves those that have ended as unsettled. Requires
    /// that there is one.
    Task<void> run_all(HeldSlot& held_slot);

  private:
    /// Sets `is_long` once the jobs of a claim have run for ahead_ms, unless they have ended
    /// before.
    Task<void> mark_long(std::weak_ptr<bool> is_long);

    Parts parts_;
};

}  // namespace tabacus
