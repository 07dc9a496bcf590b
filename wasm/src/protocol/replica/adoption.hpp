// Adoption: how a replica comes to own a slot.
//
//   running   meaning                                      who may leave the state, and how
//   no        no adoption runs; the slot is adopted or not ensure_adopted(): begin()
//   yes       a coroutine adopts; others wait for its end  that coroutine: end()
//
// An adoption is one transaction. It finds out which database this is, recovers the rows of a
// database that vanished, ends the former epoch, begins the replica's own epoch, and commits what
// is dirty.
#pragma once

#include "protocol/common/wait_list.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class Replica;

class Adoption {
  public:
    [[nodiscard]] bool running() const { return running_; }
    void begin() { running_ = true; }
    void end() {
        running_ = false;
        ended_.release_all();
    }
    /// Returns an operation that the end of the running adoption completes.
    Async<Unit> ended() { return ended_.wait(); }

  private:
    bool running_ = false;
    WaitList ended_;
};

/// Returns once the replica has adopted a slot and, where there are Web Locks, holds its lock. If
/// the replica rested (replica_slot.hpp) and gets its slot's lock again, it needs no transaction,
/// because its epoch goes on. Fails with fenced, store_failed, quota_exceeded or unavailable if
/// nothing was adopted, and with unknown_commit if it is not known whether a slot was adopted.
Task<void> ensure_adopted(Replica& replica);

}  // namespace tabacus
