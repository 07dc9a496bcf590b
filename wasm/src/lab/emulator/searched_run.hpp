// SearchedRun: a run of an emulated origin whose schedule a search chooses.
//
// It collects what each step touches, from its choice up to the next one, and reports it to the
// search. The object `everything` is read by each step and written by those that touch what the
// rules cannot see.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/explore/search.hpp"
#include "lab/footprint.hpp"

namespace tabacus::lab {

class SearchedRun {
  public:
    explicit SearchedRun(FootprintRecorder& recorder) : recorder_(&recorder) {}

    /// Requires that the search lives until end().
    void begin(Search& search);
    /// Ends the run, because no event can happen any more. Does nothing if there is none.
    void end();
    [[nodiscard]] bool under_way() const { return search_ != nullptr; }
    /// Whether the search has given the run up.
    [[nodiscard]] bool given_up() const { return given_up_; }

    /// Ends the last step, and returns the choice of the next one; nothing if the run is given up.
    [[nodiscard]] std::optional<std::size_t> choose(const std::vector<Choice>& choices);
    /// Begins a step. The origin has counted `number` steps now, and had counted `cause` steps when
    /// the event of the step was posted.
    void begin_step(std::uint32_t number, std::uint32_t cause);
    /// Begins a step without a cause, which may touch anything.
    void begin_fault(std::uint32_t number);
    /// Notes what the clock's event touches besides the time and the timers. It may have become
    /// possible because other events no longer wait, so that it conflicts with every step.
    void note_clock();

    void note_everything() { recorder_->note(everything, AccessKind::write); }
    /// Sets whether work is under way beside the schedule. All steps until it ends, and the current
    /// one, touch what the rules cannot see.
    void set_beside(bool beside);
    /// Notes that the current step decides whether time may pass.
    void note_may_wait() { recorder_->note(waiting_allowed, AccessKind::bump); }

  private:
    static constexpr ObjectId everything = object_id(Object::pulse);
    static constexpr ObjectId waiting_allowed = object_id(Object::scenario);
    [[nodiscard]] std::uint32_t step_of(std::uint32_t cause) const;
    void end_step();

    FootprintRecorder* recorder_;
    Search* search_ = nullptr;
    bool given_up_ = false;
    bool beside_ = false;
    Footprint footprint_;                 // of the current step
    std::optional<std::uint32_t> cause_;  // of that step, for the search; nothing if none was taken
    std::vector<std::uint32_t> begun_;    // the origin's number of steps as each step began
};

}  // namespace tabacus::lab
