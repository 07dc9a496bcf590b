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
//   all but queued      the check for jobs that nobody handles
//
// In a queue of several slots, what workers run and have done is gathered while jobs run in this
// tab: a claim replaces the claim that its slot had before, and the jobs that are done make one
// event. A claim is dropped if its first job is done before the claim is posted. So a tab with many
// workers does not post messages for each of their turns, and no other tab receives them.
//
//   gathered            posted
//   the first event     at once, after a time without any
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

    /// Notes how many jobs the queue has in that version of its head.
    void note(std::int64_t version, std::int64_t count);
    /// Checks whether the queue has become idle with no change of its head.
    void note_again() { note(parts_.status.version, parts_.status.count); }
    /// Whether it matters here which jobs the event names, though the application does not ask.
    [[nodiscard]] bool needs_jobs(const QueueEvent& event) const {
        return event.kind == QueueEvent::Kind::cancelled && !parts_.runs.empty();
    }
    /// Takes in an event of any tab, this one among them.
    void receive(const QueueEvent& event);
    /// Notifies all tabs, this one among them, of what a transaction has done, and delivers the
    /// outcomes. Leaves `changes` empty.
    void publish(QueueChanges& changes);
    /// Notifies all tabs of the progress of a run. Does nothing if no run has that number.
    void publish_progress(int run, double fraction, std::string_view note);

  private:
    struct GatheredClaim {
        double since_ms = 0;  // by OpenQueue::monotonic_ms(), as all of this
        QueueEvent event;
    };

    void send(const QueueEvent& event);
    void forget_claims_of(const std::vector<std::string>& done);
    void send_gathered_if_due();
    void send_gathered(double until_ms);
    Task<void> send_later();
    void post(const QueueEvent& event) const;

    Parts parts_;
    bool waiting_ = false;           // for send_later()
    std::optional<double> sent_ms_;  // when gathered events were last posted
    std::vector<GatheredClaim> running_;
    QueueEvent done_;  // without fields: none
};

}  // namespace tabacus
