// IdleWaiters: the callers in this tab that wait until the queue is idle.
//
//   state     meaning                            what ends the state
//   waiting   the caller's wait has not ended    settle(), if the queue is empty and no job runs
//                                                in this tab: ended; fail(): ended
//   ended     the caller goes on                 nothing: each wait ends once
//
// When a caller's wait ends, the outcomes of its jobs were delivered, and its tab runs no job, not
// even one that was cancelled.
#pragma once

#include <utility>
#include <vector>

#include "../queue_status.hpp"
#include "../work/job_runs.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class IdleWaiters {
  public:
    IdleWaiters(const QueueStatus& status, const JobRuns& runs) : status_(status), runs_(runs) {}

    [[nodiscard]] bool empty() const { return waiting_.empty(); }
    void add(const Completer<Unit>& caller) { waiting_.push_back(caller); }
    /// Ends all waits if the queue is idle as far as this tab knows. Requires that the outcomes of
    /// this tab's jobs were delivered.
    void settle() {
        if (status_.count > 0 || !runs_.empty()) return;
        for (const auto& caller : std::exchange(waiting_, {})) caller.complete({});
    }

    /// Ends all waits with an error.
    void fail(const Error& error) {
        for (const auto& caller : std::exchange(waiting_, {})) caller.fail(failure_of(error));
    }

  private:
    const QueueStatus& status_;
    const JobRuns& runs_;
    std::vector<Completer<Unit>> waiting_;
};

}  // namespace tabacus
