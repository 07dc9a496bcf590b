// Once: runs a function for many callers at a time ("single flight"). Callers in all tabs name the
// function by a key. While one caller of the key runs the function, the others wait, and then get
// its outcome.
//
// It promises:
//  - If enter() returns an outcome, that run finished after enter() was called. A caller gets an
//    older outcome only if it allows an age (`ttl_ms`).
//  - At most one run at a time can settle: an outcome is kept only under the fence of the lock that
//    its runner holds.
//  - If the runner dies, hangs beyond max_hold_ms or loses the lock, another caller runs.
//  - Once forget() has returned, no call that begins later gets an outcome from before. A run in
//    progress loses its lock. The run and every caller that waits for it fail with aborted.
//  - With `memory`, outcomes are kept only in the memory of tabs, and are written to no store.
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

/// Which finished run a caller accepts. Moments are in ms since the Unix epoch, by the wall clock.
struct OnceAge {
    double ttl_ms = 0;  // a success that is not older than this is accepted
    /// The moment of the call. An outcome of a run that finished later is accepted. It may be
    /// before enter(), because a caller may have to load the program first. By default it is the
    /// moment of enter().
    double called_ms = std::numeric_limits<double>::infinity();
    bool memory = false;  // whether outcomes are kept in the memory of tabs, and on no disk
};

class Once {
  public:
    /// `world` and `table` must outlive it.
    Once(World& world, LockTable& table) : world_(world), table_(table) {}

    /// Waits for an outcome or the lock, with the options and the errors of LockTable::acquire() of
    /// an exclusive lock. Fails with aborted if the key was forgotten meanwhile, with lock_lost or
    /// fenced if it has lost the lock four times in a row before it could run, and with unavailable if `age.memory` is set and there is no BroadcastChannel.
    Task<OnceTurn> enter(std::string key, LockOptions options, OnceAge age);
    /// Keeps the outcome for the callers that wait, and releases the lock. The outcome is kept for
    /// `age.ttl_ms`, and for at least LockSweeper::kept_ms, or OnceValues::kept_ms in memory. Fails
    /// as Held::begin() and commit() do, or with aborted if the lock was lost because the key was
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
    /// The recorded run; also its outcome, if the caller accepts it and it is stored.
    struct Seen {
        std::optional<Finished> finished;
        bool accepted = false;
        std::optional<OnceOutcome> outcome;
        std::string forgotten;  // the row once_forgotten_key()
    };
    Task<Seen> read_outcome(std::string key, OnceAge age);
    Task<OnceTurn> enter_again(std::string key, LockOptions options, OnceAge age);
    /// What the attempts of one call have found out.
    struct Attempts {
        std::optional<std::string>
            forgotten;              // the row once_forgotten_key() that the first one read
        std::optional<Error> lost;  // why the last one lost the lock that it had acquired
    };
    Task<OnceTurn> enter_once(std::string key, LockOptions options, OnceAge age,
                              Attempts& attempts);
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
