// QueueRows: the rows of one queue within one transaction, and what happens to a job in it.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queue_record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// How many jobs a slot claims at once at most.
constexpr std::size_t ahead_max = 1024;

/// What all queues of a tab share.
struct QueueContext {
    World& world;
    std::string tab;
    NoticeHandler on_notice;
};

/// What a transaction has done that others are notified of once it has committed.
struct QueueChanges {
    std::vector<QueueEvent> events;
    /// The outcomes of jobs that this tab waits for.
    JobOutcomes outcomes;

    /// Adds the fields to the last event if it is of that kind, else to a new event.
    void add(QueueEvent::Kind kind, std::initializer_list<std::string_view> fields);
    /// Adds the fields of all these events.
    void add_all(std::vector<QueueEvent> more);

  private:
    /// Returns the fields of the last event, which is made if it is not of that kind.
    std::vector<std::string>& fields_of(QueueEvent::Kind kind);
};

/// A job to enqueue, and what came of it.
struct QueueRequest {
    JobSpec spec;
    bool awaited = true;  // its outcome, by this tab
    JobReceipt receipt;
    std::optional<Error> refusal;
};

/// A worker's job is given up as a dead letter when so many workers were lost with it: it may be
/// what ends them.
constexpr int lost_workers_max = 10;

struct QueueRows {
    Transaction& transaction;
    QueueContext& context;
    const std::string& queue;  // escaped
    const QueueOptions& options;
    QueueChanges& changes;
    // NOLINTBEGIN(readability-redundant-member-init)
    QueueHead head = {};
    /// By id, once it has been read: the position of a job that is claimed alone, and hence runs;
    /// empty for a job that is claimed with others.
    std::optional<std::map<std::string, std::string>> claimed = {};
    /// Accepted, and not written yet: those that come together share a row.
    std::vector<Job> fresh = {};
    // NOLINTEND(readability-redundant-member-init)
    bool touched = false;       // the head, or what it counts
    bool spoilt = false;        // what the head counts is not known any more
    std::int64_t began_ms = 0;  // now_ms(), once somebody has asked

    [[nodiscard]] std::string key(std::string_view rest) const;
    /// The time, which stays the same for the whole transaction.
    [[nodiscard]] std::int64_t now_ms();

    /// Must be called before anything else but reads.
    Task<void> read_head();
    /// Must be called after everything else.
    Task<void> write_head();
    /// In place of write_head(), where nothing has changed that the head records.
    void stamp_events();
    /// Returns nothing if the row cannot be read; it is then moved to Store::quarantine.
    std::vector<Job> jobs_of(const Row& row);
    /// Reads a row of one job, which is in no batch.
    std::optional<Job> job_of(const Row& row);
    /// The value of a payload that is no text.
    Task<void> read_value(Job& job);

    /// What is accepted is written by put_fresh().
    Task<void> enqueue(std::vector<QueueRequest*> requests);
    void put_fresh();
    /// Why no further job of this kind is let in, if so.
    std::optional<Error> refusal_of(const std::string& kind);
    /// False: there are too many kinds.
    bool admit_kind(const std::string& kind);
    /// Counts the kinds anew if so many more would not fit: some may have left.
    Task<void> recount_kinds(std::size_t more);
    /// In one row, which batch_of() allows.
    void put(std::span<const Job> batch);
    void put(const Job& job) { put(std::span(&job, 1)); }
    /// In as few rows as can be.
    void put_all(std::span<const Job> jobs);
    /// Removes the row. One call of the following for each of its jobs decides what becomes of it:
    void take(std::string_view position);
    void move(const Job& from, const Job& to);
    void done(const Job& job, const JobOutcome& outcome);
    void make_dead_letter(Job job, std::string_view error);
    /// An attempt failed: again, later, or never.
    void failed(Job job, const JobOutcome& outcome);
    /// A row whose worker was lost: it stays, or is taken away. `unchanged`: that is not counted,
    /// where the row can stay as it is.
    void give_back(std::vector<Job> batch, bool unchanged);
    void cancel(const Job& job);

    /// Moves the delayed jobs that are due to the waiting ones. Returns when the next one is due.
    Task<std::optional<double>> promote();
    Task<std::vector<SlotRow>> read_slots();

  private:
    Task<void> make_head(const Row* unreadable);
    /// With the jobs that there are.
    Task<QueueHead> counted(QueueHead of);
    Task<void> enqueue_one(QueueRequest& request, std::map<std::string, std::string>& positions);
    Task<bool> join(QueueRequest& request, const std::string& position,
                    std::map<std::string, std::string>& positions);
    void quarantine(const Row& row);
    void forget(const Job& job, bool keep_payload);
    void report_outcome(const Job& job, const JobOutcome& outcome);
};

/// The key in Store::data of a value that belongs to a row of Store::jobs.
std::string queue_value_key(std::string_view row_key);
std::string queue_value_key(const std::string& queue, std::string_view rest);

}  // namespace tabacus
