// NativeHold and Grant: a native lock that a tab holds, and what it grants to callers under it.
//
//   NativeHold   active      lost    meaning                     what ends the state
//   holding      some        false   callers hold the lock       the last of them releases it
//   grace        none        false   kept for the next caller    a grant; or the end of the grace
//                                                                period, or a contender: a release
//   ended        none        true    released or lost            nothing
//
//   Grant        held    hold      meaning                       what ends the state
//   held         true    set       its caller holds the lock     a release, or a loss
//   committing   false   set       released while it commits     the end of its last commit
//   released     false   nothing   it has ended                  nothing
//   lost         false   nothing   as released; `loss` is why    nothing
//
// A shared grant whose maxHold is over is released, and `loss` is "max-hold".
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epochs.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus {

class NativeHolds;

/// A native lock (Web Lock or lease) that is held on behalf of this tab.
struct NativeHold {
    LockMode mode = LockMode::exclusive;
    LockTokens tokens;
    std::int64_t block = 1;                // how many tokens were reserved last
    std::unique_ptr<HeldLock> lock;        // the Web Lock; null for a lease
    std::unique_ptr<HeldLock> entry_lock;  // released as soon as the first holder has begun
    std::shared_ptr<HeldLock> liveness;    // this tab's liveness lock, once the hold was reported
    std::string reader;                    // the id of a shared lease's entry in the waiting line
    std::vector<std::shared_ptr<Grant>> active;
    std::uint64_t uses = 0;  // the number of grants under it so far
    double taken_ms = 0;
    double announced_ms = 0;  // when it was taken or announced, by Clock::monotonic_ms()
    bool lost = false;
    bool timing = false;   // the timer of the grace period runs
    bool expired = false;  // the grace period is over
    Function<void(std::string_view)> on_lost = nullptr;
};

/// One grant of a request. `holds` may have expired, because a Held may outlive the LockTable.
struct Grant {
    std::weak_ptr<NativeHolds> holds;
    std::shared_ptr<NativeHold> hold;
    std::shared_ptr<Grant> within;
    std::uint64_t id = 0;
    LockMode mode = LockMode::exclusive;
    std::optional<std::int64_t> token;
    std::string label;
    double since_ms = 0;                                        // since the Unix epoch
    double until_ms = std::numeric_limits<double>::infinity();  // by Clock::monotonic_ms()
    bool held = true;
    std::string loss;
    int commits = 0;  // under way
    int proofs = 0;   // made by FencedTransaction::prove()
    std::vector<Function<void(std::string_view)>> on_lost;
};

}  // namespace tabacus
