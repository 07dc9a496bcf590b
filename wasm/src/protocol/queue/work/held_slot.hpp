// HeldSlot: a slot that this tab has, from the grant of its lock to its release.
//
//   state     meaning                                         what ends the state
//   fresh     the jobs that the former holder has claimed     the first turn: settled
//             are not given back yet
//   settled   the slot's row is as this tab's last turn has   a turn that claims jobs: running; one
//             left it, and names no job that has ended        that claims none: released
//   running   the jobs of the claim run, one after another    all have ended, or no further one
//                                                             begins: settled, by the next turn
//   released  the lock is free, and the slot's row is left    nothing
//             for the next holder
//
// The loss of the lock ends each state. The next holder then gives back the jobs that were not
// settled.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "claim.hpp"
#include "claim_size.hpp"
#include "job_runs.hpp"
#include "tabacus/lock/lock.hpp"
#include "unsettled_jobs.hpp"

namespace tabacus {

/// What is recorded of a worker if it exits at this moment: its run, the turn that wrote its slot's
/// row last, and the turn that is, or was, under way.
struct SlotWorker {
    std::weak_ptr<JobRun> run;
    std::string turn;
    std::string next_turn;
};

struct HeldSlot {
    explicit HeldSlot(int number) : slot(number) {}
    int slot;
    Held held;
    bool fresh = true;
    bool return_unchanged = false;    // the disk is full: rows are given back without a write
    bool strict = false;              // the next turn must be strictly durable (at-most-once job)
    bool other_kinds = false;         // there are jobs that this tab does not handle
    bool worked = false;              // a job has been run
    double taken_ms = 0;              // when the slot was granted
    std::uint64_t interruptions = 0;  // WorkSignal::interruptions() when it claimed
    Claim claim;
    ClaimSize size;
    std::optional<std::size_t> current;  // the index in claim.jobs of the job that runs
    UnsettledJobs unsettled;
    std::shared_ptr<SlotWorker> worker = std::make_shared<SlotWorker>();
};

}  // namespace tabacus
