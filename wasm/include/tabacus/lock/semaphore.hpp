// A counting semaphore over all tabs: `permits` locks, and an entry lock before them.
//
// It promises:
//  - At most `permits` callers hold a permit at a time, if all agree on the number. A holder that
//    lost its permit and was not notified yet does not count.
//  - First come, first served over all tabs: only the holder of the entry lock waits for the
//    permits. It waits for all of them at once, and takes the first that becomes free. An
//    `ifAvailable` request takes a free permit only if no other request waits for one.
//  - What a permit's holder writes through Held::begin() is written only while its grant is the
//    newest of that permit. A permit of a tab that crashes, freezes or exceeds max_hold_ms is lost
//    as a lock is.
//
// The entry lock only puts requests in order, and protects nothing: a request that loses it goes on
// waiting. A tab that hangs while it holds the entry lock delays the requests behind it until the
// tab is closed.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "tabacus/lock/lock.hpp"

namespace tabacus {

class Semaphore {
  public:
    /// `world` and `table` must outlive it.
    Semaphore(World& world, LockTable& table) : world_(world), table_(table) {}

    /// Acquires a permit, with the options and the errors of LockTable::acquire() of an exclusive
    /// lock. Requires that all callers agree on `permits`, from 1. The token rises with every grant
    /// of the same permit.
    Task<Held> acquire(std::string name, int permits, LockOptions options);

  private:
    struct Race;
    Task<Held> take_available(const std::string& name, int permits, LockOptions options);
    Task<Held> race(const std::string& name, int permits, LockOptions options);
    Task<void> enter(std::shared_ptr<Race> race, std::string permit, LockOptions options);

    World& world_;
    LockTable& table_;
    Scope scope_;
};

}  // namespace tabacus
