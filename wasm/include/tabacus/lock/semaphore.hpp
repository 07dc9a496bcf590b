// A counting semaphore over all tabs: `permits` locks, and an entry lock before them.
//
// It promises:
//  - At most `permits` hold one, of those that agree on the number and do not know yet that they
//    lost it.
//  - First come, first served over all tabs: only the holder of the entry lock waits for the
//    permits, for all of them at once, and takes the first that comes free. An `ifAvailable`
//    request takes one that nobody waits for.
//  - What a permit's holder writes through Held::begin() is written only while it is that permit's
//    newest. A permit of a tab that crashes, freezes or exceeds max_hold_ms is lost as a lock is.
//
// The entry lock orders and protects nothing: a request that loses it goes on waiting. A tab that
// hangs while it holds the entry lock holds up those behind it until it is closed.
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
