// QueueNews: what this tab learns of a queue, from its own transactions and from other tabs, and
// passes on to the parts of the queue that it concerns.
//
//   an event            is passed on to
//   paused, resumed     the status; the workers
//   queued, changed     the workers
//   returned            the workers; the outcome collector, if another tab's
//   failed              the workers; the outcome collector, if another tab's
//   done                the outcome collector, if another tab's
//   cancelled           the workers; the runs; the outcome collector, if another tab's
//   running, progress   no part
//   all but queued      the check for jobs that no tab handles (unhandled_jobs.hpp)
//
// Events are also posted to other tabs. In a queue of several slots, the events `running` and
// `done` are gathered before they are posted, so that a tab with many workers does not post a
// message for each of their turns. A claim (`running`) replaces the earlier claim of its slot. The
// jobs that are done make one event. A claim is dropped if its first job is done before the claim
// is posted.
//
//   what is gathered    when it is posted
//   the first event     at once, if gathered_ms have passed since the last one
//   jobs that are done  gathered_ms later, or as soon as no job runs in this tab
//   claims              the same, if their jobs still run gathered_ms after the claim
//
// The version and the count of every event go to the status, and every event is handed to the
// application.
#pragma once

#include <string_view>

#include "outcome_collector.hpp"
#include "protocol/queue/work/work_signal.hpp"
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

    /// Notes that the queue has `count` jobs in the version `version` of its head.
    void note(std::int64_t version, std::int64_t count);
    /// Checks whether the queue has become idle with no change of its head.
    void note_again() { note(parts_.status.version, parts_.status.count); }
    /// Whether this tab must know the jobs that the event names, even if the application does not
    /// follow them: a job that was cancelled may run here.
    [[nodiscard]] bool needs_jobs(const QueueEvent& event) const {
        return event.kind == QueueEvent::Kind::cancelled && !parts_.runs.empty();
    }
    /// Handles an event of any tab, including this one.
    void receive(const QueueEvent& event);
    /// Notifies all tabs, including this one, of what a transaction has done, and delivers the
    /// outcomes. Leaves `changes` empty.
    void publish(QueueChanges& changes);
    /// Notifies all tabs of the progress of a run. Does nothing if no run has that number.
    void publish_progress(int run, double fraction, std::string_view note);

  private:
    struct GatheredClaim {
        double since_ms = 0;  // by OpenQueue::monotonic_ms(), as all times here
        QueueEvent event;
    };

    void send(const QueueEvent& event);
    void forget_claims_of(const std::vector<std::string>& done);
    void send_gathered_if_due();
    void send_gathered(double until_ms);
    Task<void> send_later();
    void post(const QueueEvent& event) const;

    Parts parts_;
    bool waiting_ = false;           // whether send_later() runs
    std::optional<double> sent_ms_;  // when gathered events were last posted
    std::vector<GatheredClaim> running_;
    QueueEvent done_;  // without fields if no job is done
};

}  // namespace tabacus
