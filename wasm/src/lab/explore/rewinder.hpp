// Rewinder: begins the runs of a search, each as far along the search's path as possible.
//
// If the program's runs can copy themselves (Run::save()), or if they may live in an arena
// (run_arena.hpp) and there are arenas, there is only one run, which is put back to a checkpoint.
// Otherwise each run is a new one, from the beginning (Godefroid, "Model Checking for Programming
// Languages using VeriSoft", 1997). The two ways differ only in the time that they take.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "run.hpp"
#include "run_arena.hpp"

namespace tabacus::lab {

class Rewinder {
  public:
    /// Without `rewinding`, every run begins anew.
    Rewinder(Program program, bool rewinding);
    ~Rewinder();
    Rewinder(const Rewinder&) = delete;
    Rewinder& operator=(const Rewinder&) = delete;
    Rewinder(Rewinder&&) = delete;
    Rewinder& operator=(Rewinder&&) = delete;

    /// Ends the previous run, and begins one that has taken the first passed() steps of the path,
    /// which are at most `steps`. Requires that the first `steps` steps of the path are the same as
    /// in the previous run.
    Run& begin(std::size_t steps);
    [[nodiscard]] std::size_t passed() const { return passed_; }
    /// Notes that the run has taken `steps` steps of the path. May keep a checkpoint for later
    /// runs.
    void reached(std::size_t steps);
    /// Ends the last run.
    void end();
    /// Whether runs go back to checkpoints. Known once a run has begun.
    [[nodiscard]] bool rewinding() const { return arena_ != nullptr || copies_; }

  private:
    class ArenaRun;
    struct Checkpoint {
        std::size_t steps = 0;
        RunArena::Copy copy;
    };
    /// The steps between two checkpoints of an arena. Copying it takes about as long as so many
    /// steps. A run that copies itself takes less, and has a checkpoint at each step.
    static constexpr std::size_t spacing = 5;

    void make_run();
    void make_arena();

    Program program_;
    bool rewinding_;
    bool copies_ = false;
    std::unique_ptr<RunArena> arena_;
    std::unique_ptr<Run> run_;  // a new one, or the one in the arena
    bool running_ = false;
    std::size_t passed_ = 0;
    std::vector<Checkpoint> checkpoints_;  // in the order of their steps; the first is at step 0
    std::size_t kept_ = 0;  // the number of valid checkpoints; the others are memory for reuse
};

}  // namespace tabacus::lab
