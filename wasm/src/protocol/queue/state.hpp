// What a Queue has under way in its tab.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "protocol/common/abortable_transactions.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "rows.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus {

/// A transaction that aborted for a passing reason (a dropped connection) is tried again.
constexpr int queue_attempts_max = 4;

/// Jobs claimed ahead are begun within so long of their claim, or given back.
constexpr double ahead_ms = 10;
/// A tab that does not handle all kinds lets other tabs have its slot after so long.
constexpr double slot_slice_ms = 50;
/// A message that was lost delays work by no more.
constexpr double work_again_ms = 5'000;
/// A lost message delays an outcome, or the news that the queue is idle, by no more.
constexpr double ask_again_ms = 1'000;
/// A worker whose store failed tries again after so long.
constexpr double after_failure_ms = 1'000;

/// The row of what a slot has claimed.
inline std::string slot_key(const std::string& queue, int slot) {
    return concat({queue, "/s/", format_decimal(slot)});
}

struct Queues::Parts {
    Parts(World& of, std::string_view name_space, LockTable& table, const NoticeHandler& on_notice)
        : world(of),
          names(name_space),
          locks(table),
          context{of, locks.tab(), on_notice},
          transactions(of) {}

    void open_channel();
    void on_lifecycle(LifecycleEvent event);

    World& world;
    Names names;
    LockTable& locks;
    QueueContext context;
    AbortableTransactions transactions;
    std::unique_ptr<Channel> channel;
    std::map<std::string, std::unique_ptr<Queue>, std::less<>> queues;  // by escaped name
    Subscription lifecycle;
    bool closed = false;
    Scope scope;  // last: what runs in it uses all of the above
};

struct Queue::Request : QueueRequest {
    std::optional<Error> failure;  // of the whole transaction
    Completer<Unit> decided;
};

/// A job that the application has been given.
struct Queue::Run {
    int number = 0;
    std::string id;
    bool ended = false;
    bool lost = false;  // the claim
    JobOutcome outcome;
    Completer<Unit> wake_signal;

    void wake() {
        const auto waiting = std::exchange(wake_signal, {});
        waiting.complete({});
    }
};

/// What is known of a worker at any moment: what it runs, the transaction that wrote its slot's row
/// last, and the one that is under way, or was.
struct Queue::Worker {
    std::weak_ptr<Run> run;
    std::string turn;
    std::string next_turn;
};

/// One of a claim's jobs that has ended, and is not settled.
struct Queue::Finished {
    std::size_t at = 0;  // in HeldSlot::jobs
    JobOutcome outcome;
};

/// A row of jobs that a slot has claimed. No other tab touches it, except one that cancels a job.
struct Queue::ClaimedRow {
    std::string position;
    std::size_t first;  // in HeldSlot::jobs
    std::size_t count;
    bool gone;  // somebody has
};

/// A slot that this tab has, from the grant of its lock to its release.
struct Queue::HeldSlot {
    explicit HeldSlot(int number) : slot(number) {}
    int slot;
    Held held;
    bool fresh = true;             // what the former holder has claimed is not given back yet
    bool strict = false;           // the next job is to begin at most once
    std::size_t ahead = 1;         // how many to claim
    std::size_t per_row = 1;       // how many jobs a row had, when it last claimed
    std::size_t row_bytes = 1;     // and how large it was, about
    std::int64_t edits = 0;        // QueueHead::edits when the claimed jobs were read
    bool gapless = false;          // they were all that was there, from the first to the last
    double taken_ms = 0;           // since when it is held
    bool worked = false;           // a job has been run
    bool other_kinds = false;      // there are jobs that this tab does not handle
    bool again = false;            // nothing was claimed, and yet something is there
    std::uint64_t wakes = 0;       // Queue::wake_count_ when it claimed
    std::vector<Job> jobs;         // claimed together, in their order
    std::vector<ClaimedRow> rows;  // of these, those that the slot has
    std::vector<SlotRow::RowReference> recorded;  // the same, as the slot's row has them
    std::optional<std::size_t> current;           // of `jobs`: begun, and not ended
    std::vector<Finished> finished;               // and not settled
    std::vector<Finished> unsettled;              // after those, one by one: the disk is full
    std::size_t unfit = 0;                        // of them, the last: not even alone they fit
    bool return_unchanged = false;                // what is given back is not written anew
    std::shared_ptr<Worker> worker = std::make_shared<Worker>();

    /// Updates per_row and row_bytes from what was just claimed.
    void learn();
    /// How many rows to read for the next claim.
    [[nodiscard]] std::size_t rows_ahead() const;
};

/// What a transaction over a slot has done.
struct Queue::Turn {
    explicit Turn(std::string identifier) : id(std::move(identifier)) {}
    std::string id;  // an identifier: the slot's row has it if this has committed
    QueueChanges changes;
    std::vector<Job> claimed;
    std::vector<ClaimedRow> rows;  // of these, or of what stays claimed of those before
    std::vector<SlotRow::RowReference> entries;  // the same, as the slot's row has them
    std::vector<std::size_t> returned;           // of the jobs before: not claimed any more
    std::vector<int> orphans;                    // slots beyond the agreed number that have jobs
    std::optional<double> next_due_ms;
    std::optional<std::size_t> refused;  // of HeldSlot::finished: what it gives is
    std::int64_t edits = 0;
    std::int64_t version = 0;
    std::int64_t count = 0;
    bool other_kinds = false;
    bool strict = false;
    bool gapless = false;
    bool paused = false;
};

/// Jobs of this tab whose outcome it waits for.
struct Queue::Expected {
    std::set<std::string> ids;
    /// Their outcomes in commits of this tab that may or may not have happened.
    std::map<std::string, JobOutcome> unknown;
};

}  // namespace tabacus
