// SlotTurn: what a turn of a worker, one transaction over its slot, has done.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../rows.hpp"
#include "claim.hpp"

namespace tabacus {

struct SlotTurn {
    explicit SlotTurn(std::string identifier) : id(std::move(identifier)) {}
    std::string id;  // the slot's row has this identifier if the turn was committed
    QueueChanges changes;
    Claim claim;                         // the jobs that stay claimed, or new ones if none stays
    std::vector<std::size_t> returned;   // the jobs of the former claim that were given back
    std::vector<int> orphans;            // slots beyond the queue's concurrency that have jobs
    std::optional<double> next_due_ms;   // when the next delayed job may run
    std::optional<std::size_t> refused;  // the finished job whose followers are refused
    std::int64_t version = 0;            // QueueHead::version
    std::int64_t count = 0;              // QueueHead::count
    bool other_kinds = false;            // as HeldSlot::other_kinds
    bool strict = false;                 // as HeldSlot::strict
    bool paused = false;
    bool searched = false;           // whether it has searched for jobs to claim
    std::vector<int> claimed_slots;  // other slots whose rows name claimed jobs
};

}  // namespace tabacus
