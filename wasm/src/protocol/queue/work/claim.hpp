// Claim: the jobs that a slot claims together, and runs one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../queue_record.hpp"

namespace tabacus {

/// A row of jobs that a slot has claimed. No other tab touches it, except one that cancels a job.
struct ClaimedRow {
    std::string position;
    std::size_t first = 0;  // in Claim::jobs
    std::size_t count = 0;
    bool gone = false;  // whether another tab has removed or changed it
};

struct Claim {
    std::vector<Job> jobs;                        // in the order in which they run
    std::vector<ClaimedRow> rows;                 // the rows of these jobs that the slot still has
    std::vector<SlotRow::RowReference> recorded;  // the same rows, as the slot's row names them
    std::int64_t edits = 0;                       // QueueHead::edits when the jobs were read
    bool gapless = false;  // whether no other job lies between these: no other slot had claimed one
};

}  // namespace tabacus
