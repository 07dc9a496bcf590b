// QueuePoller: reads the store when an event may be missing. That may be so while a caller of this
// tab waits. It may also be so after another tab has announced a commit, because that tab may have
// died before it posted its events (OpenQueue::announce_commit()). A tab that only runs jobs does
// not poll otherwise: it sleeps until an event or such an announcement arrives.
//
//   state     meaning                                   what ends the state
//   idle      no event can be missing                   start(), expect(): polling
//   polling   it reads every ask_again_ms while a       no caller waits, and it has read after the
//             caller waits, else once after             last notice, or the queue is closed: idle
//             work_again_ms; what fails is repeated
//
// A tab that only waits for an idle queue does not read while events arrive, unless it takes part
// in the work and has noticed a commit.
//
// A poll that fails because a newer version has the queue ends the waits for an idle queue, and is
// not repeated in a tab that only works. A tab that waits for outcomes goes on: the newer version
// may run the jobs.
//
// Where deaths of tabs are not reported (OpenQueue::announced()), it goes on polling while this tab
// runs jobs.
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

    /// Reads the store once, if this tab handles jobs: another tab is about to commit a transaction
    /// whose events may never arrive.
    void expect() {
        if (!parts_.kinds.started()) return;
        expecting_ = true;
        start();
    }
    /// Polls from here on, for as long as this tab waits for an outcome or for an idle queue.
    void start() {
        if (!std::exchange(polling_, true)) parts_.open.context.scope.spawn(poll_periodically());
    }

  private:
    Task<void> poll_periodically();
    Task<void> poll();

    Parts parts_;
    bool polling_ = false;
    bool expecting_ = false;
};

}  // namespace tabacus
