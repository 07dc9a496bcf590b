// HeldLocks: the locks that JavaScript holds. It identifies each by a number, which is never used
// again. A number whose lock is released names no lock, and a call with it does nothing.
#pragma once

#include <map>
#include <memory>

#include "browser/core/counter_core.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus::browser {

class HeldLocks {
  public:
    /// Adds a lock and returns its number. Calls the host with the number if the lock is lost.
    int keep(Held held);
    /// Removes the lock and returns it; an empty one if the number names no lock.
    Held take(int number);
    /// Returns the lock; null if the number names no lock.
    [[nodiscard]] Held* find(int number);
    /// Returns the grant; null if the number names no lock.
    [[nodiscard]] std::shared_ptr<Grant> grant(int number) const;

    /// Returns the fencing token; NaN for a shared lock, or for one that is not held.
    [[nodiscard]] double token(int number) const;
    /// Loses the lock if it has been held for longer than its maxHold.
    void check_max_hold(int number) const;

  private:
    std::map<int, Held> held_;
    int last_ = 0;
};

}  // namespace tabacus::browser
