// LockEvictor: how a lock becomes free again when its holder is frozen or hung and cannot release
// it.
//
// A holder that does not answer is evicted if a request asks for that (holder_check.hpp). Another
// one is evicted only if the lock's row or a request of this tab declares a maxHold. A waiter
// that has seen nothing move for longer than that, by its own timer, steals the lock, begins a new
// epoch (so that the hung holder can write nothing any more), and releases it at once: the queue
// goes on in its order, but for a tab whose entry lock was stolen, which asks again.
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
    /// Evicts the holder, whether a maxHold is declared or not, while `silent()` returns true: it
    /// has not answered. Returns false if this tab must not evict it.
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
        bool held = false;  // the lock or the entry lock
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
    AutoResetEvent moved_;       // there may be a maxHold, or nothing to observe
    std::uint64_t moves_ = 0;    // grants in other tabs that were announced
    std::string claimed_state_;  // another tab's eviction that was seen under way
    std::int64_t claimed_attempt_ = 0;
};

}  // namespace tabacus
