// JobRunner: runs the jobs of a claim one after another, for as long as they are short.
//
//   state       meaning                                    what ends the state
//   quick       less than ahead_ms have passed since the   ahead_ms have passed: slow
//               first job began                            no job is left, a job was enqueued, a
//                                                          follower (JobOutcome::next) comes before
//                                                          the next job, the claim is lost, or work
//                                                          stops: ended
//   slow        no other job begins after the one that     a turn gives back the others: alone
//               runs                                       the job has ended before that: ended
//   alone       no other job is claimed or unsettled       the job has ended: ended
//   ended       the next turn gives back the jobs that     nothing
//               were not begun
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
