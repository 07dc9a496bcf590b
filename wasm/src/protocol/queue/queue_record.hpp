// What queues write into Store::jobs and send over their channel. Records are parsed as strictly as
// those of record.hpp.
//
// The rows of the queue q, an escaped name:
//   q/h                     the head
//   q/r/<kind>/<order>      a job that may run; <order> is its priority and rank, so that the keys
//                           of a kind are in the order of running. Or a batch, under the key of its
//                           last job
//   q/w/<due>/<id>          a job that waits for a time
//   q/k/<key>               where the job of that key is: the rest of its row's key after "q/"
//   q/s/<slot>              what a slot has claimed
//   q/d/<id>                a dead letter
//   q/o/<tab>/<id>          an outcome that a tab shall fetch
// and in Store::data, under "tabacus/queue", the values of payloads and results that are no text:
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

/// "1;born;version;serial;front;back;count;delayed;edits;paused" and the kinds: name, escaped, and
/// first.
struct QueueHead {
    enum class Paused : char { no = 'n', by_user = 'u', by_failure = 'f' };
    std::string born;          // an identifier: of this queue in this incarnation of the database
    std::int64_t version = 0;  // rises by 1 with each write
    std::int64_t serial = 0;   // of the newest job
    std::int64_t front = 0;    // the last rank given at the front: falls
    std::int64_t back = 0;     // the next rank to give at the back: rises
    std::int64_t count = 0;    // jobs, dead letters apart
    std::int64_t delayed = 0;
    std::int64_t edits = 0;  // changes, other than its worker's, that may concern a claimed job
    Paused paused = Paused::no;
    struct Kind {
        std::string name;
        /// No job of the kind that may run comes before this: the digits of priority and rank that
        /// end a position; empty: not known. Stores are slow to pass over rows that are gone.
        std::string first = {};  // NOLINT(readability-redundant-member-init)
        friend bool operator==(const Kind&, const Kind&) = default;
    };
    std::vector<Kind> kinds;  // of the jobs that are there, and perhaps more
    friend bool operator==(const QueueHead&, const QueueHead&) = default;
    /// Returns null if no kind has that name.
    [[nodiscard]] Kind* kind(std::string_view name);
};
std::string format_queue_head(const QueueHead& head);
std::optional<QueueHead> parse_queue_head(std::string_view text);

constexpr std::size_t rank_digits = 16;
/// The digits of the priority, and then those of the rank.
constexpr std::size_t order_digits = 4 + rank_digits;
/// Whether the key of a job that may run can end with it.
bool is_order(std::string_view text);

/// "1;id;key;kind;priority;rank;flags;attempts;lost;due;delay;enqueued;tabs;error;" and the
/// payload, as it is. `flags`: bits for optional, at most once, by value.
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
    std::int64_t due_ms = 0;  // 0: it may run; of a dead letter: since when
    std::int64_t delay_ms = 0;
    std::int64_t enqueued_ms = 0;
    std::vector<std::string> tabs;  // that wait for its outcome
    std::string error;
    QueueValue payload;
    friend bool operator==(const Job&, const Job&) = default;

    /// Returns the end of its row's key, after "q/". If the job may run, the last order_digits
    /// characters are its priority and rank.
    [[nodiscard]] std::string position() const;
};
std::string format_job(const Job& job);
std::optional<Job> parse_job(std::string_view text);

/// The most jobs in one row: a worker that settles one of them writes the others again.
constexpr std::size_t batch_jobs_max = 64;
/// The most bytes of their payloads, not counting the first one.
constexpr std::size_t batch_bytes_max = 8'192;
/// Returns how many of these jobs, from the first on, can share a row: one, or as many as were
/// accepted together. Jobs share a row if they have no key, are alike in all but payload, serial
/// and rank, and have serials and ranks that are one apart.
std::size_t batch_of(std::span<const Job> jobs);
/// Formats a batch: "1;n;", the first job without its payload, then "length;payload" of each job,
/// the length in bytes. n is negative if the serials fall. One job is formatted by format_job().
std::string format_jobs(std::span<const Job> batch);
/// Returns no job if the text cannot be read.
std::vector<Job> parse_jobs(std::string_view text);

/// Returns the job as handlers and lists receive it.
JobInfo info_of(const Job& job, JobInfo::State state);

/// Whether a text from a row is the position of a job. A row may name anything else.
bool is_job_position(std::string_view position);

/// "1;turn;tab" and, of each row that is claimed, its position and the id of its first job.
struct SlotRow {
    struct RowReference {
        std::string position;
        std::string id;
        friend bool operator==(const RowReference&, const RowReference&) = default;
    };
    std::string turn;  // the transaction that wrote it
    std::string tab;
    std::vector<RowReference> entries;
    friend bool operator==(const SlotRow&, const SlotRow&) = default;
};
std::string format_slot_row(const SlotRow& row);
std::optional<SlotRow> parse_slot_row(std::string_view text);

/// "turn;next turn": the clean exit of a worker, recorded in localStorage. One of the two turns
/// wrote the slot's row: the second was under way.
std::string format_exit(std::string_view turn, std::string_view next_turn);
/// Whether a recorded exit, of any worker, is of the worker that wrote the row in that turn.
bool exit_names_turn(std::string_view exit, std::string_view turn);

/// "1;settled;kind;by value;" and the text, as it is.
struct OutcomeRow {
    std::int64_t settled_ms = 0;
    JobOutcome::Kind kind = JobOutcome::Kind::done;
    QueueValue value;
    friend bool operator==(const OutcomeRow&, const OutcomeRow&) = default;
};
std::string format_outcome_row(const OutcomeRow& row);
std::optional<OutcomeRow> parse_outcome_row(std::string_view text);

/// A message between tabs: "1;queue;kind;tab;version;count" and the fields.
std::string format_queue_event(const std::string& queue, const QueueEvent& event);
struct QueueMessage {
    std::string queue;  // escaped
    QueueEvent event;
};
/// `with_fields`: whether the event's fields are wanted. Without them the time does not depend on the
/// number of jobs that the event names.
std::optional<QueueMessage> parse_queue_event(std::string_view text, bool with_fields = true);

/// Returns what the keys of the kind's rows begin with, after "q/".
std::string kind_prefix(std::string_view kind);
/// Returns the priority and rank at the end of the key of a job that may run.
inline std::string_view order_of(std::string_view key) {
    return key.substr(key.size() - order_digits);
}

/// A message between tabs that a transaction is about to commit, whose events follow:
/// "1;queue;w;tab".
std::string format_commit_notice(std::string_view queue, std::string_view tab);
/// Returns the escaped name of the queue, or nothing if the text is another message.
std::optional<std::string> parse_commit_notice(std::string_view text);

/// A message between tabs: by how much QueueContext::steady_ms() is ahead of the wall clock,
/// "1;;e;tab;ahead"; 0 if they agree, which asks the others.
std::string format_ahead(std::string_view tab, std::int64_t ahead_ms);
std::optional<std::int64_t> parse_ahead(std::string_view text);

}  // namespace tabacus
