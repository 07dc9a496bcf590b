// QueueRows: the rows of one queue within one transaction, and the changes that a job may undergo.
//
// A transaction that writes goes through these steps, in this order:
//
//   step       calls                          what is not allowed
//   began      read_head()                    to write anything
//   changing   everything else                to read the head again, since `head` has the changes
//   written    write_head(), or, if the head  to change a row, since the events have the version of
//              is unchanged, stamp_events()   the head
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/common/record.hpp"
#include "queue_context.hpp"
#include "queue_record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// The most jobs that a slot claims at once.
constexpr std::size_t ahead_max = 1024;
/// About the most fields of one event. All that a slot claims at once is in one event.
constexpr std::size_t event_fields_max = 4 * ahead_max;

/// What a transaction has done. Once it has committed, tabs are notified of it.
struct QueueChanges {
    std::vector<QueueEvent> events;
    /// The outcomes of jobs that this tab waits for.
    JobOutcomes outcomes;

    /// Adds the fields to the last event if that is of the same kind, and otherwise to a new event.
    void add(QueueEvent::Kind kind, std::initializer_list<std::string_view> fields);
    /// Adds the events, in the same way.
    void add_all(std::vector<QueueEvent> more);
    /// Adds a job that a slot has claimed. end_running() must follow the last one.
    void add_running(const Job& job);
    void end_running(int slot);

  private:
    /// Returns the fields of the last event, which is made if it is not of that kind.
    std::vector<std::string>& fields_of(QueueEvent::Kind kind);
};

/// A job becomes a dead letter when this many workers were lost while they ran it, because the job
/// itself may have crashed them.
constexpr int lost_workers_max = 10;

struct QueueRows {
    Transaction& transaction;
    QueueContext& context;
    const std::string& queue;  // escaped
    const QueueOptions& options;
    QueueChanges& changes;
    QueueHead head = {};        // NOLINT(readability-redundant-member-init)
    bool touched = false;       // whether the head, or what it counts, has changed
    bool spoilt = false;        // whether the counts of the head are wrong: a row was quarantined
    bool older_claim = false;   // whether an older version has claimed jobs, if there may be any
    std::int64_t began_ms = 0;  // now_ms(), after its first call

    [[nodiscard]] std::string key(std::string_view rest) const;
    /// Returns the key of the index row for the job key `of`.
    [[nodiscard]] std::string index_key(std::string_view of) const;
    /// Returns the time, which stays the same for the whole transaction.
    [[nodiscard]] std::int64_t now_ms();
    /// Returns when a job that is delayed by `delay_ms` is due, by QueueContext::steady_ms().
    [[nodiscard]] std::int64_t due_ms(std::int64_t delay_ms) const;

    /// Reads the queue's head. Must be called before anything else but reads.
    Task<void> read_head();
    /// Writes the queue's head. Must be called after everything else.
    Task<void> write_head();
    /// Writes a row whose value no other transaction writes, as FencedTransaction::prove() does.
    void prove();
    /// Replaces write_head() if nothing has changed that the head records.
    void stamp_events();
    /// Returns nothing if the row cannot be read; it is then moved to Store::quarantine.
    std::vector<Job> jobs_of(const Row& row);
    /// Reads the rows whose keys begin with `part`, piece by piece, so that they need not fit into
    /// memory together.
    Task<void> each_row(std::string_view part, Function<void(const Row&)> visit) const;
    /// Reads a row with a single job.
    std::optional<Job> job_of(const Row& row);
    /// Reads the value of a payload that is not a text.
    Task<void> read_value(Job& job);

    /// Returns the reason if no further job of this kind is accepted. Otherwise the head lists the
    /// kind from here on.
    std::optional<Error> refusal_of(const std::string& kind);

    /// Writes the jobs into one row. Requires that batch_of() allows that.
    void put(std::span<const Job> batch);
    void put(const Job& job) { put(std::span(&job, 1)); }
    /// Writes the jobs into as few rows as possible.
    void put_all(std::span<const Job> jobs);
    /// Removes the row of one or more jobs. One of the following must then be called for each job.
    void take(std::string_view position);
    void move(const Job& from, const Job& to);
    /// Requires that the row of the job's key was removed: since then, a job that follows another may
    /// have written it.
    void done(const Job& job, const JobOutcome& outcome);
    void make_dead_letter(Job job, std::string_view error);
    /// Ends a failed attempt: the job is tried again, now or later, or becomes a dead letter.
    void failed(Job job, const JobOutcome& outcome);
    /// Gives back the jobs of a row whose worker was lost. If `unchanged`, the loss is not counted,
    /// and the row stays as it is, except that an at-most-once job still becomes a dead letter.
    void give_back(std::vector<Job> batch, bool unchanged);
    void cancel(const Job& job);

    /// Moves the delayed jobs that are due to those that may run. Returns when the next one is due,
    /// or nothing if none is left.
    Task<std::optional<double>> promote();
    Task<std::vector<SlotRow>> read_slots();
    /// Returns the head with its counts computed again.
    Task<QueueHead> counted(QueueHead of) const;

  private:
    Task<void> make_head(const Row* unreadable);
    void quarantine(const Row& row);
    void forget(const Job& job, bool keep_payload);
    void report_outcome(const Job& job, const JobOutcome& outcome);
};

/// Writes a row with a record. While an older version has claimed jobs, the record is in a format
/// that it can read, because it must read the head in order to settle these jobs.
inline void put_record(const QueueRows& rows, std::string_view row_key, std::string_view record) {
    if constexpr (has_earlier_formats) {
        if (rows.older_claim) {
            return rows.transaction.put(Store::jobs, row_key, in_first_format(record));
        }
    }
    rows.transaction.put(Store::jobs, row_key, record);
}

/// The key in Store::data of a value that belongs to a row of Store::jobs.
std::string queue_value_key(std::string_view row_key);
std::string queue_value_key(const std::string& queue, std::string_view rest);

}  // namespace tabacus
