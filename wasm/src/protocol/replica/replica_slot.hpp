// ReplicaSlot: the slot whose rows a replica writes, its liveness lock and its epoch.
//
//   state     lock   holder   meaning                       who may leave the state, and how
//   none      –      –        nothing may be committed      take_slot_lock(): locked
//   locked    held   –        the slot may be adopted       adopt(): adopted
//   adopted   held   yes      rows may be committed         rest_soon(), if nothing is to be
//                                                           written: resting
//                                                           lose(), after a commit was fenced or
//                                                           the lock was stolen: locked, until the
//                                                           lock is dropped
//                                                           the page is left: none
//   resting   –      yes      rows may be committed until   take_slot_lock(): adopted, or none if
//                             another replica adopts the    another replica holds the lock
//                             slot                          give_up_row(), after a newer epoch was
//                                                           seen: none
//
// Without Web Locks the lock is never held: the states `locked` and `resting` do not exist, and
// `none` leads to `adopted`. After the holder is lost, the name of the own row and its epoch are
// kept: commits under them may still be settled, and the row is the replica's own until the next
// epoch begins.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "counter/counter_set.hpp"
#include "protocol/common/record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class Replica;

/// Returns an epoch above `former`, or nothing if none is left.
///
/// An epoch is a count of adoptions times epochs_per_adoption, plus a random number below it, as a
/// ballot of Paxos is a count and its proposer (Lamport, 1998). Of two adoptions that began with
/// the same former epoch at most one has happened. If the row's epoch is equal to the replica's,
/// the row is its own; if it is lower, it is not. A higher one decides nothing, since tabs of
/// version 0.1.0 add 1 to an epoch. Without the random number, a replica that does not know whether
/// its adoption has happened could take another's row for its own.
std::optional<std::int64_t> epoch_after(std::int64_t former, Random& random);

class ReplicaSlot {
  public:
    /// Begins an epoch without a slot, whose row no other tab ever writes.
    void begin_private_epoch(std::string row) {
        row_ = std::move(row);
        epoch_ = epochs_per_adoption;
    }

    /// The slot whose lock is held or requested, or, without Web Locks, a random name. Empty if
    /// there is none.
    [[nodiscard]] const std::string& name() const { return name_; }
    void set_name(std::string name) { name_ = std::move(name); }
    /// The first slot that this replica has not passed over.
    [[nodiscard]] int first() const { return first_; }

    [[nodiscard]] bool locked() const { return lock_ != nullptr; }
    void set_lock(std::unique_ptr<HeldLock> lock) { lock_ = std::move(lock); }
    void unlock() { lock_.reset(); }
    void on_lock_lost(Function<void()> callback) { lock_->on_lost(std::move(callback)); }
    /// Notes that another script has stolen the lock. The handle stays until drop_lost_lock().
    void lose_lock() {
        lock_lost_ = true;
        lose();
    }
    [[nodiscard]] bool lock_lost() const { return lock_lost_; }
    /// Returns true once a minute at most, for the warning that the lock was stolen. `now_ms`: by
    /// the monotonic clock.
    bool take_warning(double now_ms) {
        constexpr double minute_ms = 60'000;
        if (now_ms < warn_again_ms_) return false;
        warn_again_ms_ = now_ms + minute_ms;
        return true;
    }
    void drop_lost_lock() {
        if (std::exchange(lock_lost_, false)) unlock();
    }

    [[nodiscard]] bool adopted() const { return holder_.has_value(); }
    /// Requires that the slot is adopted.
    [[nodiscard]] const HolderRecord& holder() const { return *holder_; }
    /// Returns true while the slot is this replica's until another adopts it. `lockable`: there are
    /// Web Locks.
    [[nodiscard]] bool resting(bool lockable) const { return holder_ && !lock_ && lockable; }
    void begin_epoch(HolderRecord holder);
    void lose() { holder_.reset(); }
    /// Ends the epoch (CounterSet::end_epoch()).
    void end_epoch(CounterSet& counters) const { counters.end_epoch(row_, epoch_); }

    /// Returns true while rest_soon() waits.
    [[nodiscard]] bool rests_soon() const { return rests_soon_; }
    void set_rests_soon(bool rests_soon) { rests_soon_ = rests_soon; }

    /// The key of the own rows, "generation/slot", once an epoch has begun, and its epoch.
    [[nodiscard]] const std::string& row() const { return row_; }
    [[nodiscard]] std::int64_t epoch() const { return epoch_; }
    static std::string row_of(const HolderRecord& holder);

    /// Leaves the slot, whose epochs are exhausted or which a newer version uses. The adoption is
    /// tried with the next one.
    void pass_over();
    /// Returns true once after pass_over().
    bool take_passed_over() { return std::exchange(passed_over_, false); }

  private:
    std::string name_;
    int first_ = 0;
    bool passed_over_ = false;

    std::unique_ptr<HeldLock> lock_;
    bool lock_lost_ = false;
    double warn_again_ms_ = 0;

    bool rests_soon_ = false;

    std::optional<HolderRecord> holder_;
    std::string row_;
    std::int64_t epoch_ = 0;
};

/// Takes the lock of the lowest free slot. A replica that rested takes the lock of its slot again.
/// Without Web Locks a free slot cannot be distinguished from one in use, so the replica makes a
/// new slot, and storage grows with the number of tabs ever opened. Fails with unavailable if no
/// slot is free.
Task<void> take_slot_lock(Replica& replica);

/// `co_await fail_slot_lost()` ends a coroutine whose slot was stolen, or released, while it
/// waited.
Failing fail_slot_lost();

/// Returns true if the replica holds no lock and its slot is its own until another adopts it.
[[nodiscard]] bool resting(Replica& replica);

/// Releases the slot's lock once the replica has had nothing to write for a while. Does nothing
/// unless a held lock keeps the page out of the back/forward cache. The epoch goes on: the last
/// increments are committed under it while the page is hidden, and later ones need no adoption.
void rest_soon(Replica& replica);

/// Gives up the row of a replica that rests, because a newer epoch was announced or read, so that
/// the row has a new owner. Returns false while the row must stay this replica's own.
bool give_up_row(Replica& replica, std::int64_t epoch);

}  // namespace tabacus
