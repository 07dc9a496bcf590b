// Run: one execution of a program. The caller chooses its schedule.
//
// This interface is all that the explorer knows of a program. Tabs of a simulated origin, threads
// over modelled atomics and small programs of tests all make runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lab/footprint.hpp"

namespace tabacus::lab {

/// A step that may happen next.
struct Choice {
    std::uint64_t process = 0;  // the process of the step; steps of one process have an order
    bool preempts = false;      // whether it takes the turn from a process that could have gone on
    bool fault = false;
    bool reorders = false;  // whether it is a preemption that reorders events of one process
    /// Whether an earlier choice leads to the same state except for names: both are first steps of
    /// processes that do the same (Ip and Dill, "Better Verification Through Symmetry", 1996).
    bool twin = false;
    /// The process that has the turn after the step; `own` stands for the process of the step. In
    /// equal states, different choices may be preemptions, but only because different processes
    /// have the turn, and only until the next step that begins a turn. The difference is therefore
    /// at most one preemption.
    std::uint32_t turn = own;

    static constexpr std::uint32_t own = UINT32_MAX;
    [[nodiscard]] std::uint64_t turn_after() const { return turn == own ? process : turn; }
};

/// Reduction requires the following of a run. A step becomes possible through another one, its
/// cause. It remains possible until it is taken, or until a step with a conflicting footprint makes
/// it impossible. A process therefore never waits for a condition: a step of another process ends
/// its wait. If a step would end the wait of a process that is dead, its footprint conflicts with
/// the step that killed the process.
class Run {
  public:
    Run() = default;
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    Run(Run&&) = delete;
    Run& operator=(Run&&) = delete;
    virtual ~Run() = default;

    /// Returns the steps that may happen next, in an order that depends only on what has happened.
    /// The first one is the default: the last process goes on. The reference is valid until the
    /// next step.
    virtual const std::vector<Choice>& choices() = 0;

    struct Taken {
        /// The number, from 1, of the earlier step without which this one would be impossible; 0 if
        /// there is none. Earlier steps of its own process need not be named.
        std::uint32_t cause = 0;
    };
    /// Takes the step choices()[index]. Adds what it touches to `footprint` unless that is null.
    virtual Taken take(std::size_t index, Footprint* footprint) = 0;

    /// Checks the result. Called once, when no step is possible.
    virtual void finish() {}
    /// Returns the failure, in one sentence; empty if there is none. Called after every step.
    [[nodiscard]] virtual const std::string& failure() const = 0;

    /// Returns a hash of everything that future behaviour depends on: from equal states, the same
    /// steps lead to equal states and to the same failures. Returns nothing if the program has no
    /// such hash.
    ///
    /// The hash is a sum. A step should add the same number whenever the objects in its footprint
    /// are the same, so that the state after it can be predicted. If a step adds another number
    /// (for example because of the order in a queue to which another step posts), the predicted sum
    /// is no state's hash, and the step is taken.
    [[nodiscard]] virtual std::optional<std::uint64_t> state() const { return std::nullopt; }

    /// Whether save() and restore() work.
    [[nodiscard]] virtual bool copies() const { return false; }
    /// Copies everything that the run changes.
    virtual void save(std::vector<std::byte>& /*copy*/) const {}
    /// Puts the run back to where it was when save() made the copy. Requires that it is this run's.
    virtual void restore(const std::vector<std::byte>& /*copy*/) {}

    /// Whether the run may live in an arena (run_arena.hpp): it changes only memory that it has
    /// allocated itself, and nothing else that it reads is changed.
    [[nodiscard]] virtual bool rewinds() const { return false; }
    /// Ends the run, whether it is complete or not. Called once by a caller that judges the run,
    /// and not for a run that is only traced. It may change objects outside of the run, but must
    /// not allocate.
    virtual void end() {}

    /// Returns the trace lines of the last step, and forgets them. Returns none unless tracing is
    /// on.
    virtual std::vector<TraceLine> lines() { return {}; }
};

enum class Tracing : std::uint8_t { off, on };

/// Begins a new run. Equal choices make equal runs.
using Program = std::function<std::unique_ptr<Run>(Tracing)>;

}  // namespace tabacus::lab
