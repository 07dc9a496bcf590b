// RateLimit: at most so many in any span of time, over all tabs.
//
// It promises: in any `interval_ms` at most `limit` grants are delivered to callers, whatever the
// clocks do.
//
// TIME. A limit has a time of its own, which goes as monotonic clocks do. A tab that has it (a
// witness) holds a lock, shared, and knows the time within bounds: that it is at least so late
// (`low`: what has passed) and at most so late (`high`: until when a grant may be delivered). A tab
// that joins asks, and a witness writes the time into the row; the bounds are the moments of asking
// and of reading. No witness relies on its wall clock.
// Only a tab that finds no witness, and so none to disagree with, believes its wall clock as to how
// long ago the row was written; it assumes that no time has passed if the clock has gone back. So a
// wall clock that is set forward while no tab of the origin is awake lets calls through early,
// once. A witness that hangs keeps tabs that join waiting; a tab that is frozen or hidden in the
// back/forward cache is no longer a witness, and joins again when it is back.
//
// DELIVERY. A grant is recorded with the last moment at which it may be delivered to its caller,
// and counts for an interval from then. If its commit takes longer, the grant is not delivered, and
// the tab asks for another one: so a tab that was frozen meanwhile is not let through late. The
// transaction that asks again takes the undelivered grant out of the row, so that it costs no turn.
// The next transaction does the same with a grant whose caller no longer waits.
//
// The proof: let a grant be recorded at r by a tab whose `low` is then l, and another, recorded
// before, be delivered at t, at most `high`, which is at most its `until`. It is left out only if
// until + interval ≤ l. The time itself is at least l at r and at most until at t, so that r − t is
// at least the interval. Hence all grants delivered less than an interval before r are counted.
//
// What is taken out of the row was never delivered, and is the grant it seems to be: a tab takes
// back only a grant that it saw committed, once, and finds it by its `until`. Other grants with the
// same `until` count just as long. Merging moves a grant to a later `until`, and then no other
// grant has the earlier one. A row that was lost and made anew counts `limit` first, for all that
// was lost, this grant among them; any later grant is recorded at least an interval after the loss,
// hence with an `until` of at least r + interval: and a grant with such an `until` is not taken
// back at all.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore;
struct RateRow;

/// What a rate limit needs of the tab that it is in.
struct RateOwner {
    World& world;
    LimitStore& store;
    std::string witness;             // the name of its lock
    Function<void(bool)> broadcast;  // to the other tabs: true asks for the time
};

class RateLimit {
  public:
    /// `key`: of its row. `limit` from 1; `interval_ms` from 1. An agreement of all who use it.
    RateLimit(RateOwner owner, std::string key, std::int64_t limit, std::int64_t interval_ms);

    void set_limit(std::int64_t limit, std::int64_t interval_ms) {
        limit_ = limit;
        interval_ms_ = interval_ms;
    }

    /// Waits for its turn; in a tab first come, first served. timed_out; aborted; closed; as
    /// Transaction::commit().
    Task<void> take(std::optional<AbortSignal> signal, std::optional<double> timeout_ms);
    /// Returns false if the limit is reached.
    Task<bool> try_take();

    // Events of the tab.
    void asked();
    void changed();
    void suspend();
    void close();

  private:
    struct Waiter {
        bool waits = true;
        Completer<bool> done;
    };
    using WaiterPtr = std::shared_ptr<Waiter>;
    struct Round {
        std::int64_t granted = 0;
        std::int64_t deliver_until = 0;
        int resets = 0;
        double wait_ms = 0;  // until the limit may allow another grant
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
    Task<void> learn_time();
    Task<bool> begin_time();
    Task<bool> ask_time();
    Task<void> write_time();
    Task<std::optional<RateRow>> read_row();
    bool hold(std::unique_ptr<HeldLock> lock, int resets);
    void forget_time();
    Task<void> pause(double delay_ms);

    /// The limit's time, as offsets from the monotonic clock.
    struct Time {
        double low_ms;
        double high_ms;
    };
    [[nodiscard]] std::int64_t now() const;
    [[nodiscard]] std::int64_t ahead() const;
    /// It is at least that late.
    void see(std::int64_t now);
    /// Into a row that is about to be written.
    void stamp(RateRow& row, bool vanished);

    RateOwner owner_;
    std::string key_;
    std::int64_t limit_;
    std::int64_t interval_ms_;
    std::optional<Time> time_;
    double slack_ms_;  // how long a commit may take
    struct Undelivered {
        std::int64_t until = 0;
        std::int64_t count = 0;
    };
    Undelivered undelivered_;  // recorded in the row, and not delivered to a caller
    std::list<WaiterPtr> waiters_;
    bool serving_ = false;
    bool pausing_ = false;
    bool writing_time_ = false;
    std::unique_ptr<HeldLock> witness_;
    int resets_ = 0;  // counts how often the time was forgotten
    Completer<Unit> wake_signal_;
    Completer<Unit> news_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
