// Lamport: the naive counter inside a lock that localStorage alone provides: algorithm 1 of Leslie
// Lamport, "A Fast Mutual Exclusion Algorithm" (DEC SRC report 7, 1987; ACM TOCS 5(1)), as the Web
// Storage article has it ("mutual exclusion"):
//
//     start: x := me; if y ≠ 0 then goto start;
//            y := me; if x ≠ me then { delay; if y ≠ me then goto start };
//            critical section; y := 0
//
// Adapted to tabs: a tab that finds y taken backs off before it starts again; an attempt's id is
// the time it began and a random part, so that a lock older than `force_after` is stolen from its
// owner, which may have died.
//
// Guarantee: exact while every tab sees the others' writes at once (mutexed), or at least within
// `delay` of having read y, as the algorithm presumes (interleaved). Weakness: neither is so in a
// browser. A process reads its own copy (cached), and a frozen owner whose lock was stolen writes
// later: three Chromium tabs lost 72 to 76 % (docs/decisions/0001).
#pragma once

#include <string>

#include "naive.hpp"

namespace tabacus {

struct LamportTimes {
    double delay_ms = 50;
    double back_off_ms = 50;
    double force_after_ms = 5000;
};

class LamportCounter : public NaiveCounter {
  public:
    LamportCounter(CounterLocation location, LamportTimes times);

    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;
    // What the article's code got wrong (lab/article_faults.hpp).
    /// The id of an attempt that begins: its time shows how old a lock is.
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
