// HandOver: how long a native hold goes on granting, and when it is handed over to another tab.
//
//   contenders   the hold       what happens to it                       until
//   none         has callers    grants to all that are admissible        the last one releases
//   none         in grace       is kept (run_grace_timer)                the grace period ends
//   none         > slice_ms     goes on, if the browser reports that     another slice_ms passes
//                               no other tab waits (may_go_on)
//   some         has callers    grants to the requests of this tab that  the last one releases
//                               came before the contenders
//   some         in grace       waits for a caller that asks again, in   the window or its
//                               the barging window (may_go_on)           microtasks are over
//   any          otherwise      is released
//
// A hold without contenders whose tokens are `contended` is released at the end of its barging
// window, too: other tabs may wait whose announcements were not received yet.
#pragma once

#include <cstdint>
#include <memory>

#include "contenders.hpp"
#include "fair_order.hpp"
#include "request_queue.hpp"

namespace tabacus {

/// The barging window: for this long after its beginning, and at most so often, a hold grants to
/// callers of this tab that ask again while another tab waits. It exists because a hand-over costs
/// far more than a grant: a lock that is handed over after each grant would spend most of its time
/// on that. Most windows end by the number of grants, so that a tab which the system runs less
/// often gets the lock as often as others. The time limits the wait of other tabs where callers
/// hold it for long.
constexpr double barging_window_ms = 10;
constexpr std::uint64_t barging_grants_max = 32;

class HandOver {
  public:
    HandOver(NamedLock& lock, RequestQueue& requests, Contenders& contenders, FairOrder& order)
        : lock_(lock), requests_(requests), contenders_(contenders), order_(order) {}

    /// Returns the next request that may be granted under this hold at this moment, or nothing.
    [[nodiscard]] AcquireRequestPtr admissible(const NativeHold& hold);
    /// Whether a shared request beside shared holders of this tab may have to wait for a request of
    /// another tab that came before it.
    [[nodiscard]] bool waits_to_share(const NativeHold& hold);
    /// Whether a hold without a holder must be released, unless it may go on.
    [[nodiscard]] bool must_release(const NativeHold& hold);
    /// Waits to see whether a hold that would have to be released may go on: a caller asks again
    /// within the barging window; or the hold is older than slice_ms, and no other tab waits.
    Task<bool> may_go_on(std::shared_ptr<NativeHold> hold);

    /// Wakes the driver when the grace period of a hold without a holder is over.
    void start_grace_timer(const std::shared_ptr<NativeHold>& hold);
    /// Wakes the driver after slice_ms, because a contender that gives up or crashes sends nothing.
    void start_slice_timer();

  private:
    [[nodiscard]] bool must_yield(const NativeHold& hold) const;
    [[nodiscard]] bool in_barging_window(const NativeHold& hold) const;
    Task<void> end_barging_window(std::shared_ptr<int> steps_left);
    Task<void> run_grace_timer(std::shared_ptr<NativeHold> hold);
    Task<void> wake_after_slice();

    NamedLock& lock_;
    RequestQueue& requests_;
    Contenders& contenders_;
    FairOrder& order_;
    std::shared_ptr<int> barging_steps_left_;  // of may_go_on(), until a caller has asked again
    bool slice_timing_ = false;                // wake_after_slice() runs
};

}  // namespace tabacus
