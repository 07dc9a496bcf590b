// Lamport: the naive counter inside a lock that uses localStorage alone. The lock is algorithm 1 of
// Leslie Lamport, "A Fast Mutual Exclusion Algorithm" (DEC SRC report 7, 1987; ACM TOCS 5(1)), as
// the Web Storage article describes it ("mutual exclusion"):
//
//     start: x := me; if y ≠ 0 then goto start;
//            y := me; if x ≠ me then { delay; if y ≠ me then goto start };
//            critical section; y := 0
//
// It is adapted to tabs. A tab that finds y taken waits for `back_off` before it starts again. The
// id of an attempt consists of the time at which it began and a random part, so that a tab can
// steal a lock that is older than `force_after` from its owner, which may have died.
//
// Guarantee: exact in the storage model `mutexed`, where a turn is atomic. In `interleaved`, it is
// exact if a tab that has read y writes y within `delay`, as the algorithm presumes. Weakness:
// neither is so in a browser. A process reads its own copy of localStorage (cached), and a frozen
// owner writes late, after its lock was stolen: three Chromium tabs lost 72 to 76 % of their
// increments (docs/decisions/0001).
#pragma once

#include <string>

#include "naive.hpp"

namespace tabacus {

struct LamportTimes {
    double delay_ms = 50;          // the algorithm's delay, after contention for x
    double back_off_ms = 50;       // the pause after y was found taken
    double force_after_ms = 5000;  // the age from which a lock is stolen
};

class LamportCounter : public NaiveCounter {
  public:
    LamportCounter(CounterLocation location, LamportTimes times);

    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;

    // The laboratory overrides these two with the faults of the article's code
    // (lab/article_faults.hpp).

    /// Returns the id of a new attempt. The time in it shows how old a lock is.
    virtual std::string attempt_id();
    virtual Async<Unit> wait(double delay_ms) { return world().clock().sleep(delay_ms); }

  private:
    Task<std::string> lock();
    Task<void> unlock(std::string me);
    [[nodiscard]] bool overdue(std::string_view owner) const;

    LamportTimes times_;
    std::string x_;
    std::string y_;
};

}  // namespace tabacus
