// RateLimit: at most so many in any span of time, over all tabs.
//
// It promises: of any `interval_ms` at most `limit` grants are told, whatever the clocks do.
//
// TIME. A limit has a time of its own, which goes as monotonic clocks do. A tab that has it (a
// witness) holds a lock, shared, and knows the time within bounds: that it is at least so late
// (`low`: what has passed) and at most so late (`high`: until when a grant may be told). Who comes
// anew asks, and a witness writes the time into the row; between the asking and the reading lie the
// bounds. Wall clocks are nothing to any of them.
// Only who finds no witness, and so nobody with whom to disagree, believes the wall clock as to how
// long the row has lain there; and that none has passed, if the clock has gone back. So a wall
// clock that is set forward while no tab of the origin is awake opens the gate early, once; nothing
// else. A witness that hangs keeps those who come anew waiting; one that is frozen or hidden in the
// back/forward cache is no witness any more, and comes anew itself.
//
// TELLING. A grant is recorded with the last moment at which it may be told, and counts for an
// interval from then. A commit that takes longer is not told but asked for again: so a tab that was
// frozen meanwhile is not let through late. The transaction that asks again takes what was not told
// out of the row: it costs no turn. So does the next one with what nobody waited for any more.
//
// The proof: let a grant be recorded at r by a tab whose `low` is then l, and another, recorded
// before, be told at t, at most `high`, which is at most its `until`. It is left out only if
// until + interval ≤ l. The time itself is at least l at r and at most until at t, so that r − t is
// at least the interval. Hence all grants told less than an interval before r are counted.
//
// What is taken out of the row was never told, and is what it seems: a tab takes back only what it
// saw committed, once, and by its `until`. Others with the same `until` count just as long, and who
// merges it moves it to a later one, beside which no other has that one any more. A row that was
// lost and made anew counts `limit` first, for all that was lost, this among them; whatever comes
// after that is recorded an interval after the loss at least, hence with an `until` that is no less
// than r and an interval: and what is recorded with one so late is not taken back at all.
#pragma once

#include <cstdint>
#include <functional>
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
    std::function<void(bool)> tell;  // the other tabs: true asks for the time
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
    /// False if there is no room.
    Task<bool> try_take();

    // What the tab hears.
    void asked();
    void changed();
    void fall_asleep();
    void close();

  private:
    struct Waiter {
        bool waits = true;
        Completer<bool> done;
    };
    using WaiterPtr = std::shared_ptr<Waiter>;
    struct Round {
        std::int64_t granted = 0;
        std::int64_t tell_until = 0;
        int life = 0;
        double wait_ms = 0;  // until there may be room
    };

    Task<bool> wait(bool waits, std::optional<AbortSignal> signal,
                    std::optional<double> timeout_ms);
    void end(const WaiterPtr& waiter, ErrorCode code, const char* message);
    Task<void> expire(WaiterPtr waiter, double timeout_ms);
    Task<void> serve();
    Task<Round> round_of(std::int64_t count);
    Task<Round> round_once(std::int64_t count);
    void refuse_hasty();
    static void record(RateRow& row, const Round& round);
    void take_back(RateRow& row) const;
    void allow(double slack_ms);
    Task<void> learn_time();
    Task<bool> begin_time();
    Task<bool> ask_time();
    Task<void> testify();
    Task<std::optional<RateRow>> read_row();
    bool hold(std::unique_ptr<HeldLock> lock, int life);
    void forget_time();
    Task<void> pause(double delay_ms);
    Task<void> ring_after(double delay_ms, Completer<Unit> bell);

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
    struct Untold {
        std::int64_t until = 0;
        std::int64_t count = 0;
    };
    Untold untold_;  // is in the row, and nobody was told
    std::list<WaiterPtr> waiters_;
    bool serving_ = false;
    bool pausing_ = false;
    bool testifying_ = false;
    std::unique_ptr<HeldLock> witness_;
    int life_ = 0;  // counts how often the time was forgotten
    Completer<Unit> bell_;
    Completer<Unit> news_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
