// LockEvictor: how a lock becomes free again when its holder is frozen or hung and cannot release
// it.
//
// There are two reasons to evict a holder. One is that it does not answer, and a request asks for
// its eviction (holder_check.hpp). The other is that it exceeds its maxHold, which the lock's row
// or a request of this tab declares. A waiter that has seen nothing move for longer than the
// maxHold, by its own timer, steals the lock, begins a new epoch (so that the hung holder can write
// nothing any more), and releases the lock at once. The queue then goes on in its order. Only a tab
// whose entry lock was stolen loses its position and requests the lock again.
//
//   state       meaning                                  what ends the state
//   idle        this tab does not wait for the lock      start(): observing
//   observing   it observes the lock, and then sleeps    the tab has the lock, or gave up: idle
//               for maxHold; if it knows of no maxHold,  nothing moved meanwhile: claiming
//               until max_hold_pause_ms after the next
//               announced grant
//   claiming    a row in IndexedDB names this eviction   another tab has claimed it: observing, for
//                                                        one round of maxHold more than the claim
//                                                        has attempts, up to rounds_max
//                                                        the claim succeeds: evicting
//   evicting    it steals the lock                       a new epoch has begun: observing
//
// Four rules keep tabs from evicting one after another:
//  - Only one tab evicts the holder of one observed state: the claim is a row in IndexedDB. A tab
//    that finds another tab's claim waits, and takes it over only if nothing has moved after that.
//  - The first in line checks after one maxHold, those behind it after two.
//  - Only a tab that receives its own message on the channel evicts. A tab whose channel does not
//    work, or that was thawed a moment ago, cannot know that nothing has moved.
//  - A holder that lives keeps the time itself (NativeHolds::limit) and loses the lock before that.
//    While other tabs wait, it also announces further grants with a maxHold under one native hold,
//    once in slice_ms, because the row and the browser's locks do not show these grants.
#pragma once

#include <cstdint>
#include <string>

#include "auto_reset_event.hpp"
#include "native_holds.hpp"
#include "request_queue.hpp"

namespace tabacus {

class LockEvictor {
  public:
    LockEvictor(NamedLock& lock, const RequestQueue& requests, const NativeHolds& holds)
        : lock_(lock), requests_(requests), holds_(holds) {}

    /// Observes the lock while this tab acquires it.
    void start() {
        if (!running_) lock_.spawn(run());
    }
    /// Checks again, because this tab has ended an acquisition, or made a request with a maxHold.
    void check_again() { moved_.set(); }
    /// Evicts the holder, whether or not a maxHold is declared, if `silent()` still returns true:
    /// the holder has not answered. Returns false if this tab must not evict it.
    Task<bool> evict_silent(Function<bool()> silent);
    /// Notes that another tab announced a grant.
    void on_movement() {
        ++moves_;
        moved_.set();
    }

  private:
    struct Observation {
        std::string state;  // equal while nothing moves
        std::string epoch;  // the part of the state that is in IndexedDB
        std::int64_t max_hold_ms = 0;
        bool held = false;  // whether a tab holds the lock or the entry lock
    };
    Task<void> run();
    Task<Observation> observe();
    Task<bool> claim_eviction(Observation seen);
    Task<void> evict_if_unmoved(std::string state, std::uint64_t moves);
    Task<void> evict(std::string_view why);

    NamedLock& lock_;
    const RequestQueue& requests_;
    const NativeHolds& holds_;
    bool running_ = false;
    AutoResetEvent moved_;       // wakes run(): a maxHold may be new, or the tab waits no longer
    std::uint64_t moves_ = 0;    // the number of grants in other tabs that were announced
    std::string claimed_state_;  // the state for which another tab has claimed the eviction
    std::int64_t claimed_attempt_ = 0;
};

}  // namespace tabacus
