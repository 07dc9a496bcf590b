// QueuePoller: reads the store now and then while this tab waits for anything, since messages may
// be lost.
//
//   state     meaning                                   leaves the state by
//   at rest   this tab waits for nothing                watch(): polling
//   polling   it reads every ask_again_ms while a       this tab waits for nothing, or the queue is
//             caller waits, else every work_again_ms    closed: at rest
#pragma once

#include "../work/handled_kinds.hpp"
#include "queue_news.hpp"

namespace tabacus {

class QueuePoller {
  public:
    struct Parts {
        OpenQueue& open;
        QueueStatus& status;
        AwaitedOutcomes& awaited;
        OutcomeCollector& collector;
        IdleWaiters& idle;
        QueueNews& news;
        WorkSignal& signal;
        const HandledKinds& kinds;
    };
    explicit QueuePoller(const Parts& parts) : parts_(parts) {}

    /// Polls from here on, for as long as this tab takes part in the work, or waits for an outcome
    /// or for an idle queue.
    void watch() {
        if (!std::exchange(polling_, true)) parts_.open.context.scope.spawn(poll_periodically());
    }

  private:
    Task<void> poll_periodically();
    Task<void> poll();

    Parts parts_;
    bool polling_ = false;
};

}  // namespace tabacus
