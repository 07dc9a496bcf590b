// Single flight: of all callers of a key, in all tabs, that come while nobody has finished, one
// runs and the others get its outcome.
//
// It promises:
//  - Between the call and the return of enter(), if it returns an outcome, a run finished: no
//    caller gets what was finished before it called, unless it allowed an age (`ttl_ms`).
//  - At most one runs at a time, of those that can still settle: an outcome is kept only under the
//    fence of the lock that its runner holds.
//  - If the runner dies, hangs beyond max_hold_ms or loses the lock, another of the callers runs.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "tabacus/lock/lock.hpp"

namespace tabacus {

/// How a run ended. The text is the caller's: a value or an error.
struct OnceOutcome {
    bool succeeded = false;
    std::string text;
};

/// The answer to enter(): either an outcome to use, or the lock under which to run and then to
/// settle.
struct OnceTurn {
    std::optional<OnceOutcome> outcome;
    Held held;
};

/// Which finished run a caller accepts. Times are since the Unix epoch, by the wall clock.
struct OnceAge {
    double ttl_ms = 0;  // a success that is not older is accepted
    /// Any outcome of a run that finished later is accepted: the caller asked at this time, and may
    /// have had to load the program before it could enter. By default it asks when it enters.
    double called_ms = std::numeric_limits<double>::infinity();
};

class Once {
  public:
    /// `world` and `table` must outlive it.
    Once(World& world, LockTable& table) : world_(world), table_(table) {}

    /// Waits for an outcome or the lock, with the options and the errors of LockTable::acquire() of
    /// an exclusive lock.
    Task<OnceTurn> enter(std::string key, LockOptions options, OnceAge age);
    /// Keeps the outcome for the callers that wait, and releases the lock. The outcome is kept for
    /// `ttl_ms`, and for at least LockSweeper::kept_ms. Fails as Held::begin() and commit() do.
    Task<void> settle(std::string key, Held held, OnceOutcome outcome, double ttl_ms);

    /// What the note of the lock records of the last run that ended.
    struct Finished {
        std::int64_t flight = 0;  // the token of its run
        double finished_ms = 0;
        bool succeeded = false;
    };
    static std::optional<Finished> parse(std::string_view text);

  private:
    /// The finished run that is recorded; its outcome too, if the caller accepts it.
    struct Seen {
        std::optional<Finished> finished;
        std::optional<OnceOutcome> outcome;
    };
    Task<Seen> read_outcome(std::string key, OnceAge age);
    Task<OnceTurn> enter_once(std::string key, LockOptions options, OnceAge age);

    World& world_;
    LockTable& table_;
};

}  // namespace tabacus
