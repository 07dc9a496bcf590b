// Search: every schedule of a program up to a bound, depth first.
//
// Each schedule is a run of its own. It repeats the choices that it shares with the one before, as
// many of them as cannot be spared by going back (rewinder.hpp).
//
// Reduction leaves out schedules that differ from an explored one only in the order of steps that
// commute, by what the steps were seen to touch: dynamic partial-order reduction (Flanagan and
// Godefroid, POPL 2005: after each step, the last earlier one that it races with gets a
// backtracking point, for an initial of what led to the later one: Abdulla et al., "Optimal Dynamic
// Partial Order Reduction", POPL 2014, source sets) and sleep sets (Godefroid 1996). A step that
// disables another counts as a race with it.
//
// Within a preemption bound that would be unsound: two schedules that are equal but for commuting
// steps need not have equally many preemptions, and the one left out might be the only one within
// the bound. There a schedule is given up where it has come to what an equal one (TraceHash) has
// come to with as many preemptions left: nothing that could follow is left out (Musuvathi and
// Qadeer 2007). A schedule of a program that has a state (Run::state()) is given up where it has
// come to an equal state, in whatever way. What was seen of a step that commutes with those after
// it shows where it leads without taking it.
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
        std::nullopt;             // at most so many steps that take another's turn
    bool ordered = false;         // of these, none that reorders
    std::uint64_t steps = 2'000;  // longer runs are cut, and counted as `cut`
    bool reduction = true;
    bool rewinding = true;  // if it can be; the report is the same
};

struct SearchCounts {
    std::uint64_t schedules = 0;  // complete runs
    std::uint64_t asleep = 0;     // runs given up since an equal one was explored
    std::uint64_t cut = 0;        // runs longer than the bound
    std::uint64_t steps = 0;      // with those repeated, or spared by going back
};

class Search {
  public:
    Search(Program program, Bound bound);
    ~Search();
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    Search(Search&&) = delete;
    Search& operator=(Search&&) = delete;

    /// Explores up to `runs` more, and begins none once the search has taken `steps_max` steps.
    /// False when there is nothing more to do: everything within the bound was explored, or a
    /// run failed.
    bool explore(std::uint64_t runs, std::uint64_t steps_max = UINT64_MAX);

    [[nodiscard]] const SearchCounts& counts() const { return counts_; }
    /// Whether its runs go back to where they were, instead of repeating it; known once it has
    /// begun.
    [[nodiscard]] bool rewinding() const { return runs_.rewinding(); }
    /// True when every schedule within the bound was explored and none was cut.
    [[nodiscard]] bool exhausted() const { return done_ && !failed_run_ && counts_.cut == 0; }
    /// The first run that failed.
    [[nodiscard]] const std::optional<Outcome>& failed_run() const { return failed_run_; }

  private:
    struct Frame;
    void run_once();
    bool descend(Run& run);
    void push_frame(const std::vector<Choice>& choices);
    [[nodiscard]] std::size_t pick(const Frame& frame) const;
    [[nodiscard]] std::optional<std::size_t> next_planned(const Frame& frame) const;
    void note_step(std::size_t depth, std::uint32_t cause);
    void find_races(std::size_t depth);
    void add_backtrack(std::size_t at, std::size_t later);
    void wake_disabled(const Frame& before, const std::vector<Choice>& after);
    [[nodiscard]] std::uint32_t preemptions_left(const Frame& frame, std::size_t choice) const;
    [[nodiscard]] bool foreseen(const Frame& frame, std::size_t choice) const;
    bool remember(const Run& run, std::size_t depth, std::uint32_t cause);
    bool take(Run& run, std::size_t depth);
    bool backtrack();
    void fail(std::string failure);

    Program program_;
    Rewinder runs_;
    Bound bound_;
    bool dynamic_;  // reduction of all schedules
    bool caching_;  // reduction of those within a preemption bound
    SearchCounts counts_;
    TraceHash traces_;           // of a program without states
    std::uint64_t initial_ = 0;  // the state it begins in
    VisitedPoints visited_;
    std::vector<std::unique_ptr<Frame>> path_;
    std::size_t depth_ = 0;  // frames of path_ in use; the others are memory
    std::size_t fixed_ = 0;  // of these, how many the next run repeats
    bool done_ = false;
    std::optional<Outcome> failed_run_;
};

}  // namespace tabacus::lab
