// HeldSlot: a slot that this tab has, from the grant of its lock to its release.
//
//   state     meaning                                         what ends the state
//   fresh     what the former holder has claimed is not       the first turn: settled
//             given back yet
//   settled   the slot's row is as this tab's last turn has   a turn that claims jobs: running; one
//             left it, and names no job that has ended        that claims none: released
//   running   the jobs of the claim run, one after another    all have ended, or no further one
//                                                             begins: settled, by the next turn
//   released  the lock is free; the next holder finds the     nothing
//             row
//
// The loss of the lock ends each state. What was not settled then is the next holder's.
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

/// What is known of a worker at any moment: what it runs, the transaction that wrote its slot's row
/// last, and the one that is under way, or was.
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
    bool return_unchanged = false;    // what is given back is not written anew: the disk is full
    bool strict = false;              // the next job is to begin at most once, by a turn of its own
    bool other_kinds = false;         // there are jobs that this tab does not handle
    bool worked = false;              // a job has been run
    double taken_ms = 0;              // since when it is held
    std::uint64_t interruptions = 0;  // WorkSignal::interruptions() when it claimed
    Claim claim;
    ClaimSize size;
    std::optional<std::size_t> current;  // of claim.jobs: begun, and not ended
    UnsettledJobs unsettled;
    std::shared_ptr<SlotWorker> worker = std::make_shared<SlotWorker>();
};

}  // namespace tabacus
