// QueueControl: the changes that callers make to a queue and to its jobs. Each change is one
// transaction.
//
//   state     meaning                                what ends the state
//   begun     a transaction reads the head and the   the commit: done
//             rows that the change concerns          the commit may have happened: unknown
//                                                    a temporary failure: begun again
//                                                    any other: the caller receives the failure
//   unknown   the outcomes for this tab that it      nothing: the caller receives the failure
//             would have settled are kept as
//             unknown (awaited_outcomes.hpp)
//   done      all tabs are notified                  nothing
#pragma once

#include <string>

#include "outcomes/queue_poller.hpp"

namespace tabacus {

class QueueControl {
  public:
    QueueControl(OpenQueue& open, QueueStatus& status, AwaitedOutcomes& awaited,
                 QueuePoller& poller, QueueNews& news)
        : open_(open), status_(status), awaited_(awaited), poller_(poller), news_(news) {}

    // These methods do what those of Queue with the same names do.
    Task<void> pause();
    Task<void> resume();
    Task<bool> cancel(std::string key);
    Task<std::int64_t> clear();
    Task<bool> retry(std::string id);
    Task<bool> discard(std::string id);
    /// Resumes the queue if a failure has paused it.
    void online();

  private:
    /// Makes a change of the rows, and returns how many jobs it concerned.
    using Change = Function<Task<std::int64_t>(QueueRows& rows)>;
    Task<std::int64_t> change(Change apply);
    Task<std::int64_t> change_once(const Change& apply);

    OpenQueue& open_;
    QueueStatus& status_;
    AwaitedOutcomes& awaited_;
    QueuePoller& poller_;
    QueueNews& news_;
};

}  // namespace tabacus
