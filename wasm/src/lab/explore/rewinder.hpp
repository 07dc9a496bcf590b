// Rewinder: the runs of a search, each from as far along the search's path as can be had without
// repeating it.
//
// Where there are arenas (run_arena.hpp), and the program's runs may live in one, there is one run,
// and it is put back to a checkpoint. Else each run is a fresh one (Godefroid, "Model Checking for
// Programming Languages using VeriSoft", 1997). Which of the two makes no difference but of time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run.hpp"
#include "run_arena.hpp"

namespace tabacus::lab {

class Rewinder {
  public:
    /// Without `rewinding`, every run is fresh.
    Rewinder(Program program, bool rewinding);
    ~Rewinder();
    Rewinder(const Rewinder&) = delete;
    Rewinder& operator=(const Rewinder&) = delete;
    Rewinder(Rewinder&&) = delete;
    Rewinder& operator=(Rewinder&&) = delete;

    /// Ends the run before, and begins one that has taken passed() steps of the path: `steps` or
    /// fewer. The path is the same up to there.
    Run& begin(std::size_t steps);
    [[nodiscard]] std::size_t passed() const { return passed_; }
    /// The run has taken so many steps of the path. What is kept of that spares later runs theirs.
    void reached(std::size_t steps);
    /// Ends the last run.
    void end();
    /// Whether runs go back. Known once one has begun.
    [[nodiscard]] bool rewinding() const { return arena_ != nullptr; }

  private:
    class ArenaRun;
    struct Checkpoint {
        std::size_t steps = 0;
        RunArena::Copy copy;
    };
    /// Steps from one to the next: to copy a run takes about as long as so many of its steps.
    static constexpr std::size_t spacing = 5;

    void make_arena();

    Program program_;
    bool rewinding_;
    std::unique_ptr<RunArena> arena_;
    std::unique_ptr<Run> run_;  // a fresh one, or the one in the arena
    bool running_ = false;
    std::size_t passed_ = 0;
    std::vector<Checkpoint> checkpoints_;  // by their steps; the first has none
    std::size_t kept_ = 0;  // of these, how many hold; the others are memory to use again
};

}  // namespace tabacus::lab
