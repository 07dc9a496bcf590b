// JobRuns: the jobs that the application of this tab has been given, each by the number of its run.
//
//   state     meaning                               what ends the state
//   running   the application has the job           finish(): ended; lose(): lost
//   ended     its outcome is known, not settled     end(): the run is forgotten
//   lost      the claim is lost, and its outcome    end(): the run is forgotten
//             is ignored
//
// A worker sleeps on its run and is woken by every change of the state. A job that is cancelled
// while it runs stays in its state: its application is notified, and its settlement finds no row.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../queue_record.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus {

struct JobRun {
    int number = 0;
    std::string id;
    bool ended = false;  // whether it has ended or lost its claim
    bool lost = false;   // whether it lost its claim
    JobOutcome outcome;
    Completer<Unit> wake_signal;

    void wake() {
        const auto waiting = std::exchange(wake_signal, {});
        waiting.complete({});
    }
};

class JobRuns {
  public:
    explicit JobRuns(const QueueCallbacks& callbacks) : callbacks_(callbacks) {}

    /// Gives the job to the application.
    std::shared_ptr<JobRun> begin(const Job& job);
    /// Ends the run with this outcome. Does nothing if the run has ended, or is not known.
    void finish(int number, JobOutcome outcome);
    /// Loses the claim on the job of the run, and notifies the application. Does nothing if the run
    /// has ended.
    void lose(JobRun& run, std::string_view reason);
    void lose_all(std::string_view reason);
    /// Forgets the run.
    void end(const std::shared_ptr<JobRun>& run);
    /// Notifies the application of the runs whose jobs were cancelled. `fields`: those of a
    /// QueueEvent that reports cancelled jobs.
    void report_cancelled(const std::vector<std::string>& fields);
    void wake_all();

    [[nodiscard]] bool empty() const { return runs_.empty(); }
    /// Returns null if no run has that number.
    [[nodiscard]] std::shared_ptr<JobRun> find(int number) const;

  private:
    const QueueCallbacks& callbacks_;
    std::vector<std::shared_ptr<JobRun>> runs_;
    int last_number_ = 0;
};

}  // namespace tabacus
