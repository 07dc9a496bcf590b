// QueueNews: what this tab learns of a queue, from its own transactions and from other tabs, and
// passes on to the parts of the queue that it concerns.
//
//   event               passed on to
//   paused, resumed     the status; the workers
//   queued, changed     the workers
//   returned            the workers; the outcome collector, if another tab's
//   failed              the workers; the outcome collector, if another tab's
//   done                the outcome collector, if another tab's
//   cancelled           the workers; the runs; the outcome collector, if another tab's
//   running, progress   nobody
//   all but queued      the watch of jobs that nobody handles
//
// The version and the count of every event go to the status, and every event is handed to the
// application.
#pragma once

#include <string_view>

#include "../work/work_signal.hpp"
#include "outcome_collector.hpp"
#include "unhandled_jobs.hpp"

namespace tabacus {

class QueueNews {
  public:
    struct Parts {
        OpenQueue& open;
        QueueStatus& status;
        AwaitedOutcomes& awaited;
        OutcomeCollector& collector;
        IdleWaiters& idle;
        JobRuns& runs;
        WorkSignal& signal;
        UnhandledJobs& unhandled;
    };
    explicit QueueNews(const Parts& parts) : parts_(parts) {}

    /// The queue has so many jobs in that version of its head.
    void note(std::int64_t version, std::int64_t count);
    /// The queue may have become idle with no change of its head.
    void note_again() { note(parts_.status.version, parts_.status.count); }
    /// Whether it matters here which jobs the event names, though the application does not ask.
    [[nodiscard]] bool needs_jobs(const QueueEvent& event) const {
        return event.kind == QueueEvent::Kind::cancelled && !parts_.runs.empty();
    }
    /// An event of any tab, this one among them.
    void receive(const QueueEvent& event);
    /// Notifies all tabs, this one among them, of what a transaction has done, and delivers the
    /// outcomes. Leaves `changes` empty.
    void publish(QueueChanges& changes);
    /// Notifies all tabs of the progress of a run. Does nothing if no run has that number.
    void publish_progress(int run, double fraction, std::string_view note);

  private:
    Parts parts_;
};

}  // namespace tabacus
