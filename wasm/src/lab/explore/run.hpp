// Run: one execution of a program whose schedule somebody else chooses.
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
    std::uint64_t process = 0;  // whose step it is: steps of one happen in their order
    bool switches = false;      // it takes the turn from somebody who could have gone on
    bool fault = false;
    bool disorders = false;  // a switch not for another's turn, but of the order of what is next
    /// An earlier choice leads to the same but for names: of a process that has not begun, too, and
    /// would do the same (Ip and Dill, "Better Verification Through Symmetry", 1996).
    bool twin = false;
    /// Whose turn it is once it has happened, if it is not its process's. Equal states differ in
    /// which of their choices are switches only by whose turn it is, and only until the next step
    /// that begins a turn: by at most one switch.
    std::uint32_t turn = own;

    static constexpr std::uint32_t own = UINT32_MAX;
    [[nodiscard]] std::uint64_t turn_after() const { return turn == own ? process : turn; }
};

/// What reduction asks of a run: a step becomes possible by another one, its cause, and remains so
/// until it is taken or until a step that touches what it touches takes the possibility away. So
/// nobody waits for a condition: what he waits for is given to him by somebody's step, and a step
/// that would give it, were he alive, touches what his death touches.
class Run {
  public:
    Run() = default;
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    Run(Run&&) = delete;
    Run& operator=(Run&&) = delete;
    virtual ~Run() = default;

    /// What may happen next, in an order that depends only on what has happened. The first is the
    /// calmest: whoever went last goes on. Valid until the next step.
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
    [[nodiscard]] virtual const std::string& complaint() const = 0;

    /// A number of all that what may follow depends on: the same steps lead from equal ones to
    /// equal ones, and to the same complaints. What a step adds to it is mostly the same whenever
    /// it is taken, as long as what it touches is the same; where it is not (the order in a queue
    /// into which another step posts), the sum that was foreseen is the number of no state, and
    /// the step is taken. Nothing of a program that has no such number.
    [[nodiscard]] virtual std::optional<std::uint64_t> state() const { return std::nullopt; }

    /// True if all that it makes and changes is memory that it asks for itself, and what it reads
    /// beside that stays as it is: such a run may live in an arena (run_arena.hpp).
    [[nodiscard]] virtual bool rewinds() const { return false; }
    /// Called once, however far the run came, by who ran it to judge it: not of one that is only
    /// told. May change what is not its own, but make nothing.
    virtual void end() {}

    /// Those of the last step, and then forgotten. Only of a run that was made to tell.
    virtual std::vector<Line> lines() { return {}; }
};

enum class Telling : std::uint8_t { silent, aloud };

/// Begins a fresh run. Equal choices make equal runs.
using Program = std::function<std::unique_ptr<Run>(Telling)>;

}  // namespace tabacus::lab
