// Search: explores every schedule of a program up to a bound, depth first.
//
// Each schedule is a run of its own. It begins with the choices that it shares with the previous
// schedule. The run repeats these, unless it can go back to a checkpoint (rewinder.hpp).
//
// Reduction leaves out a schedule if it differs from an explored one only in the order of steps
// that commute, as the footprints of the steps show. Without a preemption bound it uses dynamic
// partial-order reduction (Flanagan and Godefroid, POPL 2005) and sleep sets (Godefroid 1996).
// After each step, the search plans another choice in the state before each earlier step that races
// with it; it takes that choice from a source set (Abdulla et al., "Optimal Dynamic Partial Order
// Reduction", POPL 2014). A step that disables another one counts as a race with it.
//
// Within a preemption bound, this reduction would be unsound. Two schedules that differ only in the
// order of commuting steps may have different numbers of preemptions, and the one that is left out
// may be the only one within the bound. There the search gives up a schedule when it reaches a
// point that an equal trace (TraceHash) has reached with at least as many preemptions left. Nothing
// that could follow is left out then (Musuvathi and Qadeer 2007). If the program has a state
// (Run::state()), points are states, whichever way they are reached. The search also predicts the
// state after a step that it has taken earlier on the path, if all steps since commute with it.
// Without a preemption bound it does the same if `Bound::visited` is set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rewinder.hpp"
#include "run.hpp"
#include "schedule.hpp"
#include "trace_hash.hpp"
#include "visited_points.hpp"

namespace tabacus::lab {

struct Bound {
    std::optional<std::uint32_t> preemptions =
        std::nullopt;             // the most preemptions; nothing for no bound
    bool ordered = false;         // allows no preemption that reorders (Choice::reorders)
    std::uint64_t steps = 2'000;  // longer runs are cut, and counted as `cut`
    bool reduction = true;
    bool visited = false;   // without a preemption bound: gives up a schedule at a point that was
                            // reached before, instead of dynamic partial-order reduction
    bool rewinding = true;  // goes back to checkpoints if possible; the report is the same
};

struct SearchCounts {
    std::uint64_t schedules = 0;  // complete runs
    std::uint64_t asleep = 0;     // runs that were given up because an equal one was explored
    std::uint64_t cut = 0;        // runs that are longer than the bound
    std::uint64_t steps = 0;      // includes the steps that were repeated or spared by going back
};

class Search {
  public:
    Search(Program program, Bound bound);
    ~Search();
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    Search(Search&&) = delete;
    Search& operator=(Search&&) = delete;

    /// Explores up to `runs` more runs, and begins none once the search has taken `steps_max`
    /// steps. Returns false once everything within the bound was explored, or a run failed.
    bool explore(std::uint64_t runs, std::uint64_t steps_max = UINT64_MAX);

    // --- For a program that runs outside. Requires that there is no preemption bound ---

    /// Explores a program that runs outside.
    explicit Search(Bound bound);
    /// Begins the next run. Returns false if everything within the bound was explored.
    bool begin_run();
    /// Begins the last run again, if it has taken any step.
    void restart_run();
    /// Returns the choice of the next step. Returns nothing if the run is to be given up: an equal
    /// one was explored, it is too long, or it does not repeat the steps that it shares with the
    /// previous run.
    std::optional<std::size_t> choose(const std::vector<Choice>& choices);
    /// Notes that the run has taken the step that choose() returned.
    void note_taken(std::uint32_t cause, const Footprint& footprint);
    /// Ends a run in which no step is possible any more.
    void end_run();
    /// Whether a run did other steps than the previous one after equal choices, so that nothing is
    /// proved. Such a program depends on more than its schedule.
    [[nodiscard]] bool diverged() const { return diverged_; }
    /// Returns the number of choices that are planned so far. Each takes a run, and may plan more.
    [[nodiscard]] std::uint64_t planned() const;

    [[nodiscard]] const SearchCounts& counts() const { return counts_; }
    /// Whether runs go back to checkpoints instead of repeating steps. Known once a run has begun.
    [[nodiscard]] bool rewinding() const { return runs_.rewinding(); }
    /// Returns the number of points that the search has visited, if it gives up schedules there.
    [[nodiscard]] std::size_t points() const { return visited_.size(); }
    /// Whether every schedule within the bound was explored and none was cut.
    [[nodiscard]] bool exhausted() const {
        return done_ && !failed_run_ && !diverged_ && counts_.cut == 0;
    }
    /// Returns the first run that failed; nothing if none did.
    [[nodiscard]] const std::optional<Outcome>& failed_run() const { return failed_run_; }

  private:
    struct Frame;
    void run_once();
    bool descend(Run& run);
    bool enter(const std::vector<Choice>& choices);
    void push_frame(const std::vector<Choice>& choices);
    [[nodiscard]] std::size_t pick(const Frame& frame) const;
    [[nodiscard]] std::optional<std::size_t> next_planned(const Frame& frame) const;
    void note_step(std::size_t depth, std::uint32_t cause);
    void find_races(std::size_t depth);
    void add_backtrack(std::size_t at, std::size_t later);
    void wake_disabled(const Frame& before, const std::vector<Choice>& after);
    [[nodiscard]] std::uint32_t preemptions_left(const Frame& frame, std::size_t choice) const;
    [[nodiscard]] std::uint64_t turn_after(const Choice& choice) const;
    [[nodiscard]] bool foreseen(const Frame& frame, std::size_t choice) const;
    bool remember(const Run& run, std::size_t depth, std::uint32_t cause);
    bool take(Run& run, std::size_t depth);
    bool backtrack();
    void fail(std::string failure);

    Program program_;
    Rewinder runs_;
    Bound bound_;
    bool dynamic_;  // whether to leave out schedules by dynamic partial-order reduction
    bool caching_;  // whether to give up schedules at visited points
    SearchCounts counts_;
    TraceHash traces_;           // for a program without states
    std::uint64_t initial_ = 0;  // the initial state
    VisitedPoints visited_;
    std::vector<std::unique_ptr<Frame>> path_;
    std::size_t depth_ = 0;  // the number of frames in use; the others are memory for reuse
    std::size_t fixed_ = 0;  // the number of frames that the next run repeats
    std::size_t taken_ = 0;  // the number of steps that the run of a program outside has taken
    bool begun_ = false;     // whether a program outside has begun a run
    bool diverged_ = false;
    bool done_ = false;
    std::optional<Outcome> failed_run_;
};

}  // namespace tabacus::lab
