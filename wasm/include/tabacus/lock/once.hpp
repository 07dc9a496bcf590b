// Single flight: of all callers of a key, in all tabs, that come while nobody has finished, one
// runs and the others get its outcome.
//
// It promises:
//  - Between the call and the return of enter(), if it returns an outcome, a run finished: no
//    caller gets what was finished before it called, unless it allowed an age (`ttl_ms`).
//  - At most one runs at a time, of those that can still settle: an outcome is kept only under the
//    fence of the lock that its runner holds.
//  - If the runner dies, hangs beyond max_hold_ms or loses the lock, another of the callers runs.
//  - Once forget() has returned, no call that begins later gets an outcome from before. A run in
//    progress loses its lock, and it and every caller that waits for it fail with aborted.
//  - An outcome that is to stand in memory alone (`memory`) is written to no store.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "tabacus/lock/lock.hpp"
#include "tabacus/lock/once_values.hpp"

namespace tabacus {

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
    bool memory = false;  // whether outcomes stand in the memory of tabs, and on no disk
};

class Once {
  public:
    /// `world` and `table` must outlive it.
    Once(World& world, LockTable& table) : world_(world), table_(table) {}

    /// Waits for an outcome or the lock, with the options and the errors of LockTable::acquire() of
    /// an exclusive lock. Fails with aborted if the key was forgotten meanwhile, and with unavailable
    /// if memory alone shall keep outcomes and there is no BroadcastChannel.
    Task<OnceTurn> enter(std::string key, LockOptions options, OnceAge age);
    /// Keeps the outcome for the callers that wait, and releases the lock. The outcome is kept for
    /// `age.ttl_ms`, and for at least LockSweeper::kept_ms, or OnceValues::kept_ms in memory. Fails as
    /// Held::begin() and commit() do, or with aborted if the lock was lost because the key was
    /// forgotten.
    Task<void> settle(std::string key, Held held, OnceOutcome outcome, OnceAge age);
    /// Removes what is kept under the key, and ends a run in progress. Fails with timed_out if the
    /// lock cannot be stolen, with closed, and as a commit does.
    Task<void> forget(std::string key);

    /// What the note of the lock records of the last run that ended.
    struct Finished {
        std::int64_t flight = 0;  // the token of its run
        double finished_ms = 0;
        bool succeeded = false;
    };
    static std::optional<Finished> parse(std::string_view text);

  private:
    /// The finished run that is recorded; its outcome too, if the caller accepts it and it is stored.
    struct Seen {
        std::optional<Finished> finished;
        bool accepted = false;
        std::optional<OnceOutcome> outcome;
        std::string forgotten;  // the row once_forgotten_key()
    };
    Task<Seen> read_outcome(std::string key, OnceAge age);
    Task<OnceTurn> enter_again(std::string key, LockOptions options, OnceAge age);
    Task<OnceTurn> enter_once(std::string key, LockOptions options, OnceAge age,
                              std::optional<std::string>& forgotten);
    Task<std::optional<OnceOutcome>> read_missed(std::string key, Held& held, const Seen& before,
                                                 OnceAge age);
    Task<void> fail_lost(std::string key, Held& held, Error error);
    Task<void> settle_once(std::string key, Held& held, OnceOutcome outcome, OnceAge age);
    Task<void> forget_once(std::string key);
    Task<bool> was_forgotten(std::string key, std::int64_t token);
    OnceValues& values();

    World& world_;
    LockTable& table_;
    /// Made when it is first used. Its deleter is a pointer, so that a program which never makes it
    /// needs none of its code.
    std::unique_ptr<OnceValues, void (*)(OnceValues*)> values_{nullptr, nullptr};
};

}  // namespace tabacus
