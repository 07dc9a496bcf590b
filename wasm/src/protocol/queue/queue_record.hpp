// The records that queues write into Store::jobs, and their messages. They are parsed as strictly
// as those of record.hpp.
//
// The rows of the queue q, an escaped name:
//   q/h                     the head
//   q/r/<kind>/<order>      a job that may run, or a batch of jobs, under the key of its last job.
//                           <order> is the priority and the rank, so that the keys of a kind are in
//                           the order in which the jobs run
//   q/w/<due>/<id>          a delayed job
//   q/k/<key>               the index row of a key: the *position* of the job with that key, which
//                           is the key of the job's row without "q/"
//   q/s/<slot>              the jobs that a slot has claimed
//   q/d/<id>                a dead letter
//   q/o/<tab>/<id>          an outcome for a tab that waits for it
// and in Store::data, under "tabacus/queue", the values of payloads and results that are not texts:
//   q/p/<id>, q/o/<tab>/<id>
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/common/concat.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus {

/// The head of a queue: "1;born;version;serial;front;back;count;delayed;edits;paused", and then for
/// each kind its escaped name and `first`.
struct QueueHead {
    enum class Paused : char { no = 'n', by_user = 'u', by_failure = 'f' };
    std::string born;          // identifies this queue in this incarnation of the database
    std::int64_t version = 0;  // rises by 1 with each write
    std::int64_t serial = 0;   // the serial number of the newest job
    std::int64_t front = 0;    // the last rank given at the front, which falls
    std::int64_t back = 0;     // the next rank to give at the back, which rises
    std::int64_t count = 0;    // the number of jobs, without dead letters
    std::int64_t delayed = 0;  // the number of delayed jobs
    std::int64_t edits = 0;    // counts changes that may concern a job that another tab has claimed
    Paused paused = Paused::no;
    struct Kind {
        std::string name;
        /// The digits of priority and rank at the end of a position: no job of the kind that may
        /// run comes before it. Empty if it is not known. Reads begin here, because databases are
        /// slow to skip rows that were removed.
        std::string first = {};  // NOLINT(readability-redundant-member-init)
        friend bool operator==(const Kind&, const Kind&) = default;
    };
    std::vector<Kind> kinds;  // the kinds of all jobs, and perhaps more
    friend bool operator==(const QueueHead&, const QueueHead&) = default;
    /// Returns null if no kind has that name.
    [[nodiscard]] Kind* kind(std::string_view name);
};
std::string format_queue_head(const QueueHead& head);
std::optional<QueueHead> parse_queue_head(std::string_view text);

constexpr std::size_t rank_digits = 16;
/// The number of digits of the priority and then of the rank.
constexpr std::size_t order_digits = 4 + rank_digits;
/// Whether `text` has the form of a priority and a rank at the end of a key.
bool is_order(std::string_view text);

/// A job: "1;id;key;kind;priority;rank;flags;attempts;lost;due;delay;enqueued;tabs;error;" and the
/// payload, unescaped. `flags` are bits for optional, at most once and by value.
struct Job {
    std::string id;
    std::string key;
    std::string kind;
    int priority = 0;
    std::int64_t rank = 0;
    bool optional = false;
    bool at_most_once = false;
    int attempts = 0;
    int lost_workers = 0;
    std::int64_t due_ms = 0;  // 0 if it may run; of a dead letter: since when it is one
    std::int64_t delay_ms = 0;
    std::int64_t enqueued_ms = 0;
    std::vector<std::string> tabs;  // the tabs that wait for its outcome
    std::string error;
    QueueValue payload;
    friend bool operator==(const Job&, const Job&) = default;

    /// Returns the position: the key of its row without "q/". If the job may run, the last
    /// order_digits characters are its priority and rank.
    [[nodiscard]] std::string position() const;
};
std::string format_job(const Job& job);
std::optional<Job> parse_job(std::string_view text);

/// The most jobs in one row. The bound exists because a worker that settles one of them has to
/// write the others again.
constexpr std::size_t batch_jobs_max = 64;
/// The most bytes of the payloads in one row, not counting the first payload.
constexpr std::size_t batch_bytes_max = 8'192;
/// Returns how many of these jobs, from the first on, can share a row. Jobs share a row if they
/// have no key, are equal except for payload, serial and rank, and have consecutive serials and
/// ranks.
std::size_t batch_of(std::span<const Job> jobs);
/// Formats a batch of n jobs: "1;n;", the first job without its payload, and then "length;payload"
/// of each job, with the length in bytes. n is negative if the serials fall. A single job is
/// formatted by format_job().
std::string format_jobs(std::span<const Job> batch);
/// Returns no job if the text cannot be read.
std::vector<Job> parse_jobs(std::string_view text);

/// Returns the job as handlers and lists receive it.
JobInfo info_of(const Job& job, JobInfo::State state);

/// Whether a text from a row can be the position of a job. (Another script may have written the
/// row.)
bool is_job_position(std::string_view position);

/// What a slot has claimed: "1;turn;tab", and then for each claimed row its position and the id of
/// its first job.
struct SlotRow {
    struct RowReference {
        std::string position;
        std::string id;
        friend bool operator==(const RowReference&, const RowReference&) = default;
    };
    std::string turn;  // identifies the transaction that wrote the row (slot_turn.hpp)
    std::string tab;
    std::vector<RowReference> entries;
    friend bool operator==(const SlotRow&, const SlotRow&) = default;
};
std::string format_slot_row(const SlotRow& row);
std::optional<SlotRow> parse_slot_row(std::string_view text);

/// The record of a worker's clean exit, in localStorage: "turn;next turn". One of these two turns
/// wrote the slot's row last; the second one was under way when the worker exited.
std::string format_exit(std::string_view turn, std::string_view next_turn);
/// Whether the exit was recorded by the worker that wrote the slot's row in that turn.
bool exit_names_turn(std::string_view exit, std::string_view turn);

/// An outcome: "1;settled;kind;by value;" and the text, unescaped.
struct OutcomeRow {
    std::int64_t settled_ms = 0;
    JobOutcome::Kind kind = JobOutcome::Kind::done;
    QueueValue value;
    friend bool operator==(const OutcomeRow&, const OutcomeRow&) = default;
};
std::string format_outcome_row(const OutcomeRow& row);
std::optional<OutcomeRow> parse_outcome_row(std::string_view text);

/// A message between tabs: "1;queue;kind;tab;version;count", and then the fields of the event.
std::string format_queue_event(const std::string& queue, const QueueEvent& event);
struct QueueMessage {
    std::string queue;  // escaped
    QueueEvent event;
};
/// `with_fields`: whether to parse the event's fields. Without them, parsing takes the same time
/// however many jobs the event names.
std::optional<QueueMessage> parse_queue_event(std::string_view text, bool with_fields = true);

/// Returns the text with which the positions of the kind's jobs begin.
std::string kind_prefix(std::string_view kind);
/// Returns the priority and rank at the end of the key of a job that may run.
inline std::string_view order_of(std::string_view key) {
    return key.substr(key.size() - order_digits);
}

/// A message between tabs which announces that a transaction is about to commit: "1;queue;w;tab".
/// Its events follow after the commit.
std::string format_commit_notice(std::string_view queue, std::string_view tab);
/// Returns the escaped name of the queue, or nothing if the text is another message.
std::optional<std::string> parse_commit_notice(std::string_view text);

/// A message between tabs, "1;;e;tab;ahead": by how much QueueContext::steady_ms() is ahead of the
/// wall clock. If they agree, it is 0, and the message asks the other tabs for their number.
std::string format_ahead(std::string_view tab, std::int64_t ahead_ms);
std::optional<std::int64_t> parse_ahead(std::string_view text);

}  // namespace tabacus
