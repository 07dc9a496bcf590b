// ClaimTracker: which jobs of a queue are claimed in any tab, and which of them run, as far as this
// tab knows from events. From it the application gets its events and the state of the queue.
//
// A slot claims jobs together and runs them one after another. One event names all of them, and
// later events show which one runs.
//
//   state      meaning                                  what ends the state
//   claimed    a slot has the job, and another job of   an event of the job, or it is the first of
//              the claim runs                           its claim: running
//   running    the job is the current one of its claim  progress: running; done, failed, cancelled
//              and was reported as such                 or returned: left; it is settled: settled
//   settled    the job does not run, and the event of   the event: left
//              its end was not received yet
//   left       the job is not claimed                   nothing: it is forgotten
//
// If a job is done, fails or makes progress before it was reported as running, it is reported as
// running first. If it is given back before that, it is not reported at all. Events may be lost.
// Two rules correct that: when a slot claims jobs, all that it had claimed before has left; and
// refresh() compares the jobs with the store.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/queue/queue.hpp"

namespace tabacus {

/// A job in any tab, as far as events report it.
struct ObservedJob {
    std::string id;
    std::string key;
    std::string kind;
    std::string tab;       // the tab that runs it, or that sent an event
    int attempt = 0;       // the number of the attempt, from 1; 0 if it is unknown
    double fraction = -1;  // the fraction of its last progress; negative if there is none
    std::string note;
};

/// A queue as this tab knows it.
struct QueueState {
    std::int64_t size = 0;  // jobs in the queue
    std::vector<ObservedJob> running;
    std::int64_t done = 0;    // the number of jobs done since this tab receives events
    std::int64_t failed = 0;  // the number of attempts that failed since then
    bool paused = false;
};

/// What has happened to a job, or to the whole queue if `job` has no id, and the state after it.
struct QueueReport {
    QueueEvent::Kind type = QueueEvent::Kind::changed;
    ObservedJob job;
    std::string error;
    bool final = false;  // whether the job that failed is not tried again
    QueueState state;
};

class ClaimTracker {
  public:
    /// `concurrency` is that of the queue. If the queue has one slot, every job belongs to it.
    explicit ClaimTracker(int concurrency) : one_slot_(concurrency == 1) {}

    /// Handles an event. Returns what it reports, or nothing unless set_reporting(true) was called.
    std::vector<QueueReport> receive(const QueueEvent& event);
    /// Notes that jobs for which this tab waited are settled. Their events follow.
    void settle(const JobOutcomes& outcomes);
    /// Notes how many jobs the store has, and whether the queue is paused.
    void learn(std::int64_t size, bool paused);
    /// Returns a number for refresh(): the jobs that are known now come before this mark.
    [[nodiscard]] std::int64_t mark() const { return last_order_; }
    /// Notes which jobs run according to the store. Jobs that were known before the mark and are
    /// not in `running` have left.
    void refresh(const std::vector<JobInfo>& running, std::int64_t mark);
    [[nodiscard]] std::int64_t size() const { return size_; }
    [[nodiscard]] QueueState state() const;
    /// Whether receive() reports what happens from here on. At first it does not.
    void set_reporting(bool reporting) { reporting_ = reporting; }
    [[nodiscard]] bool reporting() const { return reporting_; }

    /// Remembers the value with which a run of the job ended, unless it is a text itself.
    void keep_value(const std::string& id, const QueueValue& value);
    [[nodiscard]] bool keeps_values() const { return !values_.empty(); }
    /// Returns the texts of the values that are not needed any more, because their run is settled
    /// or lost its claim.
    std::vector<std::string> take_unneeded_values();

  private:
    struct Claimed {
        ObservedJob job;
        std::string claim;
        std::int64_t order = 0;  // jobs are listed in the order in which they became known
        bool announced = false;  // as running
    };

    void receive_job(const QueueEvent& event, std::size_t at);
    void claim(const QueueEvent& event);
    void keep(ObservedJob job, const std::string& claim);
    void announce(const std::string& id);
    void leave(const std::string& id);
    QueueReport& report(QueueEvent::Kind type, const std::string& tab);

    bool one_slot_;
    bool reporting_ = false;
    std::map<std::string, Claimed> claimed_;      // by id
    std::map<std::string, std::string> current_;  // by claim, the id of the job that runs
    std::int64_t last_order_ = 0;
    std::int64_t size_ = 0;  // this and the next as in QueueState
    std::int64_t done_ = 0;
    std::int64_t failed_ = 0;
    bool paused_ = false;
    std::vector<QueueReport> reports_;
    std::map<std::string, std::string> values_;  // the ids of their jobs, by their texts
    std::vector<std::string> unneeded_values_;
};

}  // namespace tabacus
