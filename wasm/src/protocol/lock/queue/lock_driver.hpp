// LockDriver: the one coroutine of a tab that acquires the native lock of a name for the tab's
// requests, and grants it to them.
//
//   state      meaning                              what ends the state
//   idle       no request waits                     start(): taking
//   taking     obtain() waits for the native lock   granted: holding
//                                                   refused, or the page stopped: idle, or taking
//                                                   for the next request
//   holding    serve(): callers hold the lock       the last of them releases it: grace
//                                                   stolen, fenced, max-hold: idle or taking
//   grace      serve(): nobody holds the lock       an admissible request: holding
//                                                   HandOver::must_release(): releasing
//   releasing  the native lock is released          at once: idle, or taking
//
// The coroutine does not serve requests that steal: each takes the native lock by itself, in any
// state.
#pragma once

#include <memory>
#include <optional>

#include "availability.hpp"
#include "hand_over.hpp"
#include "holder_check.hpp"

namespace tabacus {

class LockDriver {
  public:
    LockDriver(NamedLock& lock, RequestQueue& requests, Contenders& contenders, NativeHolds& holds,
               FairOrder& order, Availability& availability, HandOver& hand_over,
               LockEvictor& evictor, HolderCheck& check)
        : lock_(lock),
          requests_(requests),
          contenders_(contenders),
          holds_(holds),
          order_(order),
          availability_(availability),
          hand_over_(hand_over),
          evictor_(evictor),
          check_(check) {}

    /// Starts the coroutine, or wakes it, because a request has joined the queue.
    void start();
    /// Whether other tabs know this one as the next to hold the lock, or as one that tries it.
    [[nodiscard]] bool is_next() const { return is_next_; }
    /// Steals the lock for a request, whichever tab holds it.
    void steal(const AcquireRequestPtr& request) { lock_.spawn(run_steal(request)); }
    /// Ends a request. Every request ends here or in refuse().
    void settle(const AcquireRequestPtr& request, std::optional<Error> failure);
    /// Ends a request that waits, and cancels the native request that was made for it alone.
    void refuse(const AcquireRequestPtr& request, const Error& error);

  private:
    [[nodiscard]] bool takes_over();
    Task<void> run();
    Task<void> obtain();
    void end_acquiring();
    bool give_up_fence(LockOptions& options, const Error& error) const;
    void announce(const AcquireRequestPtr& first);
    Task<void> serve(std::shared_ptr<NativeHold> hold);
    void grant(const AcquireRequestPtr& request, const std::shared_ptr<NativeHold>& hold);
    Task<bool> reserve_tokens(std::shared_ptr<NativeHold> hold);
    Task<void> announce_grant(std::shared_ptr<NativeHold> hold);
    void refuse_unavailable();
    Task<void> run_steal(AcquireRequestPtr request);
    Task<void> acquire_by_stealing(AcquireRequestPtr request);

    NamedLock& lock_;
    RequestQueue& requests_;
    Contenders& contenders_;
    NativeHolds& holds_;
    FairOrder& order_;
    Availability& availability_;
    HandOver& hand_over_;
    LockEvictor& evictor_;
    HolderCheck& check_;
    bool running_ = false;
    bool is_next_ = false;
    LockMode acquiring_mode_ = LockMode::exclusive;
};

}  // namespace tabacus
