// Run: one execution of a program whose schedule its caller chooses.
//
// The explorer knows nothing else of what it explores: tabs of a simulated origin, threads over
// modelled atomics and a test's toy are all programs that make runs.
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

/// One thing that may happen next.
struct Choice {
    std::uint64_t process = 0;  // whose step it is: steps of one process have an order
    bool preempts = false;      // it takes the turn from a process that could have gone on
    bool fault = false;
    bool reorders = false;  // a preemption that changes the order of one process's own events
    /// An earlier choice leads to the same but for names: of a process that has not begun, too, and
    /// would do the same (Ip and Dill, "Better Verification Through Symmetry", 1996).
    bool twin = false;
    /// The process whose turn it is after the step, if it is not the step's own. Equal states
    /// differ in which of their choices are preemptions only by whose turn it is, and only until
    /// the next step that begins a turn: by at most one preemption.
    std::uint32_t turn = own;

    static constexpr std::uint32_t own = UINT32_MAX;
    [[nodiscard]] std::uint64_t turn_after() const { return turn == own ? process : turn; }
};

/// What reduction asks of a run: a step becomes possible by another one, its cause, and remains so
/// until it is taken or until a step that touches what it touches takes the possibility away. So
/// no process waits for a condition: a step of another process ends the wait, and a step that would
/// end it, were the waiting process alive, touches what its death touches.
class Run {
  public:
    Run() = default;
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    Run(Run&&) = delete;
    Run& operator=(Run&&) = delete;
    virtual ~Run() = default;

    /// What may happen next, in an order that depends only on what has happened. The first is the
    /// default: the process that went last goes on. Valid until the next step.
    virtual const std::vector<Choice>& choices() = 0;

    struct Taken {
        /// The earlier step, counted from 1, without which this one could not have been taken; 0
        /// for none. Earlier steps of its own process need no saying.
        std::uint32_t cause = 0;
    };
    /// Lets choices()[index] happen. What it touches is added to `footprint` unless that is null.
    virtual Taken take(std::size_t index, Footprint* footprint) = 0;

    /// Called once, when there are no choices any more: judges what has come of it.
    virtual void finish() {}
    /// What is wrong, in one sentence; empty while nothing is. Looked at after every step.
    [[nodiscard]] virtual const std::string& failure() const = 0;

    /// A number of all that what may follow depends on: the same steps lead from equal ones to
    /// equal ones, and to the same failures. What a step adds to it is mostly the same whenever
    /// it is taken, as long as what it touches is the same; where it is not (the order in a queue
    /// into which another step posts), the sum that was foreseen is the number of no state, and
    /// the step is taken. Nothing of a program that has no such number.
    [[nodiscard]] virtual std::optional<std::uint64_t> state() const { return std::nullopt; }

    /// True if all that it makes and changes is memory that it asks for itself, and what it reads
    /// beside that stays as it is: such a run may live in an arena (run_arena.hpp).
    [[nodiscard]] virtual bool rewinds() const { return false; }
    /// Called once, however far the run came, by a caller that judges it; not for a run that is
    /// only traced. May change what is not its own, but may not allocate.
    virtual void end() {}

    /// Returns the trace lines of the last step, and forgets them. Empty unless the run traces.
    virtual std::vector<TraceLine> lines() { return {}; }
};

enum class Tracing : std::uint8_t { off, on };

/// Begins a fresh run. Equal choices make equal runs.
using Program = std::function<std::unique_ptr<Run>(Tracing)>;

}  // namespace tabacus::lab
