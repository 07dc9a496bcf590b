// RateLimit: a limit on how many calls of all tabs together are let through in any span of time.
//
// It promises: in any `interval_ms` at most `limit` grants are delivered to callers. There is one
// exception: the wall clock is set forward while no tab of the origin is awake.
//
//   state      serving_   pausing_   meaning                     what ends the state
//   idle       false      false      no call waits               take(), try_take(): granting
//   granting   true       false      a transaction records       no call waits, or the transaction
//                                    grants for the calls that   fails: idle
//                                    wait                        the limit is reached: pausing
//   pausing    true       true       calls wait until the limit  its timer, try_take(), close():
//                                    may allow another grant     granting
//
// TIME. Each limit has a time of its own, which no tab's wall clock can set back or forward while
// another tab is awake. Witness learns it from other tabs, and passes it on to them. RateClock has
// the two bounds that this tab knows: the time is at least `low` and at most `high`. With `low` a
// tab decides which grants have expired, with `high` until when a grant may be delivered.
//
// DELIVERY. A grant is recorded with the last moment at which it may be delivered to its caller,
// its `until`, and counts until an interval after that. If the commit takes longer, the grant is
// not delivered, and the tab asks for another one. A tab that was frozen during the commit is thus
// not let through late. The transaction that asks again takes the undelivered grant out of the row,
// so that it counts for nothing. The next transaction likewise takes back a grant if its caller has
// stopped waiting.
//
// The proof: let a tab record a grant at the moment r, when its `low` is l. Let another grant,
// recorded before, be delivered at t. The time at t is at most that grant's `until`. The first tab
// leaves the other grant out only if until + interval ≤ l. The time at r is at least l, so r − t is
// at least the interval. Hence all grants that were delivered less than an interval before r are
// counted.
//
// A grant that is taken out of the row was never delivered. A tab takes back only a grant that it
// saw committed, once, and finds it by its `until`. It cannot take back another grant in its place:
//  - Grants with the same `until` count equally long, so it does not matter which one is taken.
//  - Merging moves a grant to a later `until`. Then no other grant has the earlier one.
//  - A row that was lost and made anew first counts `limit` grants for all that were lost, this one
//    among them. Any later grant is recorded at least an interval after the loss, so that its
//    `until` is at least r + interval. A grant with such an `until` is never taken back.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "tabacus/common/world.hpp"
#include "tabacus/limit/rate_owner.hpp"
#include "tabacus/limit/rate_policy.hpp"
#include "tabacus/limit/witness.hpp"

namespace tabacus {

struct RateRow;

class RateLimit {
  public:
    /// `key` is the key of the limit's row. `limit` and `interval_ms` are from 1; all tabs must
    /// agree on them.
    RateLimit(RateOwner owner, std::string key, std::int64_t limit, std::int64_t interval_ms);

    /// Replaces the numbers of the constructor, from the next transaction on.
    void set_limit(std::int64_t limit, std::int64_t interval_ms) { policy_ = {limit, interval_ms}; }

    /// Waits until the limit lets the call through. The calls of one tab are let through in their
    /// order. Fails with timed_out after `timeout_ms`, with aborted if the signal aborts, with
    /// closed, and as Transaction::commit() does.
    Task<void> take(std::optional<AbortSignal> signal, std::optional<double> timeout_ms);
    /// Returns true if the limit lets the call through at once; false if the limit is reached, or
    /// if the time is not known within a second. Fails with closed, and as Transaction::commit()
    /// does.
    Task<bool> try_take();

    // Events of the tab.

    /// Answers another tab that asks for the time.
    void asked() { witness_.asked(); }
    /// Notes that another tab has written the row.
    void changed() { witness_.changed(); }
    /// Stops being a witness, because the page is frozen or left.
    void suspend() { witness_.forget(); }
    /// Ends the limit in this tab: calls that wait fail with closed.
    void close();

  private:
    struct Waiter {
        bool waits = true;  // whether take() made it; false if try_take() did
        Completer<bool> done;
    };
    using WaiterPtr = std::shared_ptr<Waiter>;
    struct Round {
        std::int64_t granted = 0;
        std::int64_t deliver_until = 0;
        int resets = 0;
        double wait_ms = 0;  // the time until the limit may allow another grant
    };

    Task<bool> wait(bool waits, std::optional<AbortSignal> signal,
                    std::optional<double> timeout_ms);
    void end(const WaiterPtr& waiter, ErrorCode code, const char* message);
    Task<void> expire(WaiterPtr waiter, double timeout_ms);
    Task<void> serve();
    Task<Round> round_of(std::int64_t count);
    Task<Round> round_once(std::int64_t count);
    void refuse_tries();
    static void record(RateRow& row, const Round& round);
    void take_back(RateRow& row) const;
    void allow(double slack_ms);
    Task<void> pause(double delay_ms);

    RateOwner owner_;
    std::string key_;
    RatePolicy policy_;
    Witness witness_;
    double slack_ms_;  // how long after it was recorded a grant may still be delivered
    struct Undelivered {
        std::int64_t until = 0;
        std::int64_t count = 0;
    };
    Undelivered undelivered_;  // the grants of the last commit that no caller has received
    std::list<WaiterPtr> waiters_;
    bool serving_ = false;  // whether serve() runs
    bool pausing_ = false;  // whether pause() runs
    Completer<Unit> wake_signal_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
