// Witness: one tab's part in keeping the time of a rate limit.
//
// A tab that knows the time is called a witness. All witnesses hold one lock, shared. A tab that
// joins asks for the time, and a witness writes the time into the row. The row was written after
// the tab asked and before the tab read it, which gives the two bounds of RateClock. No witness
// relies on its wall clock.
//
// Only a tab that finds no witness relies on its wall clock: it computes how long ago the row was
// written. No other tab is awake then that could know another time. If the clock has gone back, the
// tab assumes that no time has passed. A wall clock that is set forward while no tab of the origin
// is awake therefore lets calls through early, once. While a witness hangs, tabs that join wait. A
// tab that is frozen or hidden in the back/forward cache is not a witness, and joins again when it
// is back.
//
//   state      the witness lock           what ends the state
//   outside    not held                   learn_time(): alone or joining
//   alone      exclusive, then shared     no row or an old row is read: witness, with the time of
//                                         the wall clock
//                                         another tab holds the lock: joining
//   joining    shared                     a witness writes the row: witness, with its time
//                                         no answer for a while: outside, and learns anew
//   witness    shared                     asked(): writes the time into the row
//
// forget(), or the loss of the lock, leads from every state to `outside`. Without Web Locks, a tab
// holds no lock, and asks before it relies on its wall clock.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tabacus/common/world.hpp"
#include "tabacus/limit/rate_clock.hpp"
#include "tabacus/limit/rate_owner.hpp"
#include "tabacus/limit/rate_policy.hpp"

namespace tabacus {

struct RateRow;

class Witness {
  public:
    /// The arguments must outlive this. `key` is the key of the limit's row.
    Witness(const RateOwner& owner, const std::string& key, const RatePolicy& policy)
        : owner_(owner), key_(key), policy_(policy), clock_(owner.world.clock()) {}

    [[nodiscard]] const RateClock& clock() const { return clock_; }

    /// Returns once the time is known. Fails as Transaction::commit() does.
    Task<void> learn_time();
    /// Writes the time into a row that is about to be stored. `vanished`: whether the row was lost.
    /// Requires that the time is known.
    void stamp(RateRow& row, bool vanished);
    /// Stops being a witness.
    void forget();

    // Messages of other tabs.

    /// Answers another tab that asks for the time.
    void asked();
    /// Notes that another tab has written the row.
    void changed() { news_.complete({}); }

  private:
    Task<bool> begin_time();
    Task<bool> ask_time();
    Task<void> write_time();
    Task<std::optional<RateRow>> read_row();
    bool hold(std::unique_ptr<HeldLock> lock, int resets);

    const RateOwner& owner_;
    const std::string& key_;
    const RatePolicy& policy_;
    RateClock clock_;
    std::unique_ptr<HeldLock> lock_;
    bool writing_ = false;  // whether write_time() runs
    Completer<Unit> news_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
