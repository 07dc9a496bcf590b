// UnsettledJobs: the jobs of a claim that have ended, and that no transaction has settled yet.
//
//   state       meaning                                     what ends the state
//   finished    the next transaction settles the job        the transaction: settled; the disk is
//                                                           full: narrow()
//   postponed   a later transaction settles the job, after  settle_next(): finished; gather():
//               jobs that write less                        finished
//   unfit       postponed, and it did not fit even alone    the settlement of another job may free
//                                                           space: postponed
//   settled     the job is gone from the slot               nothing
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "../queue_record.hpp"

namespace tabacus {

/// A job of a claim that has ended, and is not settled.
struct FinishedJob {
    std::size_t at = 0;  // in Claim::jobs
    JobOutcome outcome;
};

class UnsettledJobs {
  public:
    std::vector<FinishedJob> finished;
    std::vector<FinishedJob> postponed;

    /// Makes all of them finished again.
    void gather();
    /// Makes the first postponed job finished. Requires that there is one.
    void settle_next();
    /// Notes that a job which did not fit may fit, because another one was settled.
    void forget_unfit() { unfit_ = 0; }
    /// Postpones all but one of the finished jobs, because their transaction found the disk full.
    /// They are then settled one by one, the job that writes least first. Returns false if none of
    /// them fits.
    bool narrow(const std::vector<Job>& jobs);
    /// Makes a finished job a failed one, because what it gave was refused for this reason.
    void refuse(std::size_t number, ErrorCode code, std::string_view message);

  private:
    std::size_t unfit_ = 0;  // how many of the last postponed jobs are unfit
};

}  // namespace tabacus
