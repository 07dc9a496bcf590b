// ReplicaCommitter: the dirty rows of all counters in one transaction, one transaction at a time.
//
//   running   pausing   meaning                                who may leave the state, and how
//   no        no        nothing is to be committed, or the     start_committing()
//                       turn's end is awaited
//   yes       no        a commit is prepared or under way      the loop: begin_pause() at its start
//                                                              and after a failure; stop() when
//                                                              nothing is dirty or the page is left
//   yes       yes       the loop waits before its next         its timer; retry_now(), which a
//                       attempt                                flush calls
//
// Commits in flight are counted beside that state: a page that is left issues a last one without
// the loop (commit_before_sleep()).
//
// A commit writes whole rows of cumulative totals, so it may be repeated without harm. It has all
// rows beforehand, so it is issued without waiting for a read. The transaction that adopts a slot
// also commits the first rows that are dirty then (adoption.hpp). Many dirty rows are committed in
// parts, each by a transaction of its own.
#pragma once

#include <cstdint>
#include <list>
#include <string>

#include "counter/counter_set.hpp"
#include "protocol/common/change_listeners.hpp"
#include "protocol/common/wait_list.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class Backup;
class Replica;
class ReplicaNotices;
class ReplicaSlot;
class Transaction;

class ReplicaCommitter {
  public:
    [[nodiscard]] bool running() const { return running_; }
    void start() { running_ = true; }
    void stop() { running_ = false; }
    /// Returns true while no commit is prepared or under way.
    [[nodiscard]] bool idle() const { return !running_ && !in_flight(); }

    [[nodiscard]] bool in_flight() const { return in_flight_ > 0; }
    void issue() { ++in_flight_; }
    void report() { --in_flight_; }
    /// Returns an operation that completes when the outcome of a commit in flight has been dealt
    /// with.
    Async<Unit> next_outcome() { return outcome_.wait(); }
    void release_outcome_waiters() { outcome_.release_all(); }

    /// Counts a commit that has happened: the store holds `rows`.
    void committed(const std::list<CommitRow>& rows);
    /// How many commits are known to have happened.
    [[nodiscard]] std::uint64_t commits() const { return commits_; }

    void begin_pause() {
        pausing_ = true;
        pause_end_ = {};
    }
    /// Returns the completer that ends the pause.
    [[nodiscard]] const Completer<Unit>& pause_end() const { return pause_end_; }
    void leave_pause() { pausing_ = false; }
    /// Ends the pause, if there is one, so that the next attempt follows at once.
    void retry_now() const {
        if (pausing_) pause_end_.complete({});
    }

    /// Callbacks that are called before the last commits of a page that sleeps or closes.
    [[nodiscard]] ChangeListeners& before_last_commits() { return before_last_commits_; }

  private:
    bool running_ = false;
    bool pausing_ = false;
    Completer<Unit> pause_end_;
    int in_flight_ = 0;
    WaitList outcome_;
    std::uint64_t commits_ = 0;
    ChangeListeners before_last_commits_;
};

/// Starts a loop that commits until nothing is dirty. Does nothing if nothing is dirty or the loop
/// runs already.
void start_committing(Replica& replica);

/// Issues the last commit without waiting for anything, since no callback will run in a page that
/// is left, and announces at once what is to be announced.
void commit_before_sleep(Replica& replica);

/// The most rows of one commit: more would make a task that a user notices.
constexpr std::size_t commit_rows_max = 256;

/// Commits the dirty rows of an adopted slot, and at most `most` of them, in one transaction. Fails
/// with fenced if the slot is not this replica's any more, and as Transaction::commit() does.
Task<void> commit_to_database(Replica& replica, std::size_t most);

/// Returns the base of the first commit of a counter in the epoch of `holder`: what the slot's row
/// holds, or its backup if the row cannot be read. Notes whether there is a backup.
Task<Totals> stored_base(Replica& replica, Transaction& transaction, CounterState& state,
                         const HolderRecord& holder);

/// Notes that the row of the slot, which holds `base`, is this replica's own from here on.
void set_base(Replica& replica, CounterState& state, Totals base);

/// Copies committed rows of `slot` to the backup. A warning reports the first row for which the
/// backup has no room.
Task<void> back_up(Backup& backup, ReplicaNotices& notices, const ReplicaSlot& slot,
                   const std::list<CommitRow>& rows);

}  // namespace tabacus
