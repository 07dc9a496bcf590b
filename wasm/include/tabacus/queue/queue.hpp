// Queue: jobs that any tab enqueues, durably, and that `concurrency` workers run over all tabs.
//
// It promises:
//  - A job that was accepted is kept until it is settled: done, given up as a dead letter, or
//    cancelled. Only the transaction that settles it deletes it.
//  - A job is settled once: the claim on a job is recorded in the row of a slot, which only the
//    holder of a lock (lock.hpp) writes. Each transaction of the holder finds that row as it left
//    it, or does nothing. One transaction settles a job and enqueues all that follows it. A worker
//    that lost its claim without knowing it settles nothing.
//  - At most `concurrency` jobs run at a time, if all tabs agree on the number, not counting jobs
//    whose workers have yet to be notified that they lost their claims.
//  - at_most_once: the claim is on the disk before the job begins, and a job whose worker was lost
//    is never begun again. Any other job is given back, and its lost workers are counted.
//  - Order: a claim takes the first jobs, by priority and position, of the kinds that the tab
//    handles, except delayed ones. A job that is enqueued again under its key moves to the front.
//
// A queue has `concurrency` numbered *slots*, each with a lock "queue/<name>/<slot>". A worker
// takes one slot. What a slot has claimed is in one row, so that a claim moves no job, and a job
// given back has kept its position. One transaction settles what is done and claims what comes
// next. While jobs are short a slot claims several ahead, and gives back what it has not begun
// after `ahead_ms`, or when more is enqueued.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus {

/// Priorities are from -priority_max to priority_max, larger ones first.
constexpr int priority_max = 1000;
/// How many kinds of jobs may be in a queue at a time: a claim reads one row of each.
constexpr std::size_t kinds_max = 64;

/// The options of a queue. All tabs must agree on them.
struct QueueOptions {
    int concurrency = 1;
    bool lifo = false;
    int attempts = 3;               // the most attempts of a job that fails; 0: no limit
    double back_off_ms = 1'000;     // before the second attempt; it doubles with each attempt
    bool pause_on_failure = false;  // instead of backing off
    std::int64_t limit = 0;         // jobs in the queue; 0: no limit
    Durability durability = Durability::relaxed;
};

/// A value. If `by_value` is set, `text` names a value of the host's, and a transaction that puts
/// the text into Store::data stores that value instead.
struct QueueValue {
    std::string text;
    bool by_value = false;
    friend bool operator==(const QueueValue&, const QueueValue&) = default;
};

struct JobSpec {
    // NOLINTBEGIN(readability-redundant-member-init): so that they may be left out
    QueueValue payload = {};
    std::string key = {};  // empty: it has none
    std::string kind = {};
    // NOLINTEND(readability-redundant-member-init)
    int priority = 0;
    bool optional = false;  // if it fails, it is not attempted again, and is no dead letter
    bool at_most_once = false;
    double delay_ms = 0;
};

struct JobReceipt {
    std::string id;
    bool joined = false;     // whether the job was in the queue before, under its key
    std::int64_t count = 0;  // the number of jobs in the queue, with this one
};

/// How a job, or one run of it, ended.
struct JobOutcome {
    enum class Kind : char { done = 's', failed = 'f', cancelled = 'x' };
    Kind kind = Kind::done;
    QueueValue value;           // a failure has a text that describes it
    std::vector<JobSpec> next;  // of a run: enqueued with its settlement
};

struct JobInfo {
    enum class State : std::uint8_t { queued, delayed, running, dead };
    std::string id;
    std::string key;
    std::string kind;
    QueueValue payload;
    int priority = 0;
    bool optional = false;
    bool at_most_once = false;
    State state = State::queued;
    int attempts = 0;  // the number of attempts that failed
    int lost_workers = 0;
    double enqueued_ms = 0;  // since the Unix epoch, as is due_ms
    double due_ms = 0;       // delayed: when it may run; dead: when it became a dead letter
    std::string error;       // the error of the last attempt
    std::string tab;         // running: the tab that runs it
};

/// Which jobs of a list are returned: those behind the job of the id `after`, or all if that is
/// empty, and at most `limit` of them, or all if that is 0.
struct JobRange {
    // NOLINTNEXTLINE(readability-redundant-member-init): so that callers may leave it out
    std::string after = {};
    std::int64_t limit = 0;
};

/// What has happened to jobs, in any tab.
struct QueueEvent {
    enum class Kind : char {
        queued = 'q',     // id, key, kind of each
        running = 'r',    // id, key, kind, attempt of each that a slot has claimed; and the slot
        progress = 'p',   // id, fraction, note
        done = 'd',       // id, key, kind of each
        failed = 'f',     // id, key, kind, error, "dead" or "again" or "dropped" of each
        returned = 'b',   // id, key, kind of each: the slot has given them back
        cancelled = 'x',  // id, key, kind of each; without fields: all jobs
        paused = 'z',     // "user" or "failure"
        resumed = 'c',
        changed = 'm',  // anything else
    };
    Kind kind = Kind::changed;
    std::string tab;                       // the tab that made the change
    std::int64_t version = 0;              // rises with every change of the queue
    std::int64_t count = 0;                // the number of jobs in the queue after the change
    std::vector<std::string> fields = {};  // NOLINT(readability-redundant-member-init)
};

/// Jobs, by id, and how each ended.
using JobOutcomes = std::vector<std::pair<std::string, JobOutcome>>;

/// Callbacks of a queue into its own tab. Never invoked from inside a `Queue` method.
struct QueueCallbacks {
    /// Begins a job: the callee calls finish() with this number when it has ended.
    Function<void(int run, const JobInfo& job)> run;
    /// The claim on the job is lost; its outcome is ignored.
    Function<void(int run, std::string_view reason)> lost;
    /// Jobs that were enqueued here, or joined, are settled.
    Function<void(const JobOutcomes& outcomes)> settled;
    /// Something has happened in the queue, in any tab.
    Function<void(const QueueEvent& event)> event;
};

class Queue;

/// All queues of a namespace in one tab.
class Queues {
  public:
    /// `world` and `locks` must outlive this. `locks` is the table of the same namespace, made
    /// before this: it receives the events of the page's lifecycle first, and reports lost claims.
    Queues(World& world, std::string_view name_space, LockTable& locks,
           const NoticeHandler& on_notice);
    ~Queues();
    Queues(const Queues&) = delete;
    Queues& operator=(const Queues&) = delete;
    Queues(Queues&&) = delete;
    Queues& operator=(Queues&&) = delete;

    /// Returns false if there is no IndexedDB, so that no queue works.
    [[nodiscard]] bool available() const;
    /// Returns the name of this tab in events.
    [[nodiscard]] const std::string& tab() const;
    /// Returns the queue of that name, which lives as long as this. The first call of a name makes
    /// the queue with these options and callbacks.
    Queue& queue(const std::string& name, QueueOptions options, QueueCallbacks callbacks);
    /// Resumes the queues that a failure has paused, because the browser is online again.
    void online();
    /// Ends the queues: every later call fails with closed. The claims are lost when `locks` is
    /// closed.
    void close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// One queue in one tab.
class Queue {
    struct Parts;

  public:
    /// Only Queues::queue() calls this.
    explicit Queue(std::unique_ptr<Parts> parts);
    ~Queue();
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    Queue(Queue&&) = delete;
    Queue& operator=(Queue&&) = delete;

    /// Returns once the job is accepted. Fails with queue_full if `limit` jobs are queued, with
    /// unavailable if the queue has `kinds_max` kinds, and else with the store's error. Calls of
    /// one turn of the event loop share a transaction, and are refused one by one.
    Task<JobReceipt> enqueue(JobSpec spec);

    /// Takes part in the work on jobs of these kinds, which replace those of an earlier call.
    void handle(std::vector<std::string> kinds);
    /// Takes part in the work on jobs of all kinds.
    void handle_all();
    /// Ends this tab's part in the work. The runs under way go on to their end.
    void stop();
    /// Ends this tab's part in the work: the runs under way lose their claims. Returns when the
    /// runs that had ended are settled, and all other claims are given back.
    Task<void> leave();
    /// Ends a run. Does nothing if the run has ended or is lost.
    void finish(int run, JobOutcome outcome);
    /// Notifies all tabs of the progress of a run. `fraction` is from 0 to 1; a negative one is
    /// unknown.
    void progress(int run, double fraction, std::string_view note);

    /// Lets no further job begin, in any tab. Running jobs go on.
    Task<void> pause();
    /// Ends pause(). Does nothing if the queue is not paused.
    Task<void> resume();
    /// Returns false if no job has that key. The worker of a running job is notified that it lost
    /// its claim.
    Task<bool> cancel(std::string key);
    /// Cancels all jobs except dead letters. Returns how many jobs were cancelled.
    Task<std::int64_t> clear();
    /// Returns the number of jobs in the queue, as this tab last learnt.
    [[nodiscard]] std::int64_t count() const;
    /// Reads the number of jobs in the queue from the store.
    Task<std::int64_t> read_count();
    /// Returns the jobs in the order in which they will run, running ones first. What a slot has
    /// claimed runs one after another: all but its first job are queued. Fails with
    /// invalid_argument if the job that the range names is not in the queue, unless a list of this
    /// tab has ended with it.
    Task<std::vector<JobInfo>> jobs(JobRange range);
    /// Returns all jobs, as jobs(JobRange) does.
    Task<std::vector<JobInfo>> jobs() { return jobs({}); }
    /// Returns the running jobs only.
    Task<std::vector<JobInfo>> running();
    /// Returns the dead letters, the oldest first. Fails as jobs() does.
    Task<std::vector<JobInfo>> dead_letters(JobRange range);
    /// Returns all dead letters, as dead_letters(JobRange) does.
    Task<std::vector<JobInfo>> dead_letters() { return dead_letters({}); }
    /// Makes a dead letter a job at the front. Returns false if no dead letter has that id.
    Task<bool> retry(std::string id);
    /// Removes a dead letter. Returns false if no dead letter has that id.
    Task<bool> discard(std::string id);
    /// Returns once nothing is queued or running.
    Task<void> idle();
    /// Returns whether the queue is paused, as this tab last learnt.
    [[nodiscard]] bool paused() const;
    /// Sets whether events of other tabs name their jobs, which is true at first. Reading these
    /// names is most of what such an event costs, so a tab without listeners sets it to false.
    void follow_jobs(bool follows);

  private:
    friend class Queues;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
