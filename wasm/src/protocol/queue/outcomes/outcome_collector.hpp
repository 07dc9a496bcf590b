// OutcomeCollector: fetches the outcomes that other tabs have stored for this one.
//
//   state        meaning                                what ends the state
//   idle         no collection is under way             start(): collecting
//   collecting   one transaction after another takes    start(): once more; a failure, or no row is
//                up to collected_max outcomes; a        left: idle
//                visible tab that waits for many
//                outcomes pauses after each
//   once more    as collecting, and there may be new    the transaction under way has ended:
//                outcomes                               collecting
//
// After a failure, the poller starts it again (queue_poller.hpp).
#pragma once

#include "awaited_outcomes.hpp"
#include "idle_waiters.hpp"

namespace tabacus {

class OutcomeCollector {
  public:
    OutcomeCollector(OpenQueue& open, AwaitedOutcomes& awaited, IdleWaiters& idle)
        : open_(open), awaited_(awaited), idle_(idle) {}

    void start() { open_.context.scope.spawn(collect()); }
    /// Starts if this tab waits for an outcome.
    void start_if_awaited() {
        if (!awaited_.empty()) start();
    }

  private:
    Task<void> collect();
    Task<bool> collect_some();

    OpenQueue& open_;
    AwaitedOutcomes& awaited_;
    IdleWaiters& idle_;
    bool collecting_ = false;
    bool again_ = false;
};

}  // namespace tabacus
