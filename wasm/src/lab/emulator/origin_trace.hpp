// OriginTrace: the trace of an emulated origin, which is empty unless tracing is on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/explore/schedule.hpp"
#include "lab/footprint.hpp"

namespace tabacus::lab {

class OriginTrace {
  public:
    explicit OriginTrace(FootprintRecorder& recorder) : recorder_(&recorder) {}

    void set(bool on) { recorder_->trace_into(on ? &lines_ : nullptr), on_ = on; }
    [[nodiscard]] bool on() const { return on_; }

    /// Begins a step. Does nothing if tracing is off.
    void begin_step(std::uint64_t process, bool fault) {
        if (!on_) return;
        collect_lines();
        steps_.push_back({.process = process, .fault = fault, .lines = {}});
    }
    /// Adds a line. That of a fault is a step of its own. Does nothing if tracing is off.
    void add(TraceLine line) {
        if (!on_) return;
        if (line.where == Object::faults) begin_step(0, true);
        lines_.push_back(std::move(line));
    }
    /// Leaves the latest line out of the story.
    void leave_out() {
        if (on_ && !lines_.empty()) lines_.back().story.emplace();
    }

    /// Sets the line of a tab's source, such as "basket.js:12", of the call that follows.
    void set_place(std::string place) { place_ = std::move(place); }
    /// Takes the place that was set, as the end of a line: " (basket.js:12)".
    [[nodiscard]] std::string take_place() {
        const auto place = std::exchange(place_, {});
        return place.empty() ? place : " (" + place + ")";
    }

    /// Sets the name of a tab or a worker, which is "tab 1" by default.
    void name(std::uint32_t agent, std::string name) { names_[agent] = std::move(name); }
    [[nodiscard]] std::string name_of(std::uint32_t agent) const {
        return tabacus::lab::name_of(names_, agent);
    }

    /// Returns the trace so far, without the steps that have no line, such as the delivery of a
    /// grant.
    [[nodiscard]] Trace trace(std::string failure) {
        collect_lines();
        Trace trace{.steps = steps_, .failure = std::move(failure), .names = names_};
        std::erase_if(trace.steps, [](const Step& step) { return step.lines.empty(); });
        return trace;
    }

  private:
    /// Moves the new lines into the last step.
    void collect_lines() {
        if (lines_.empty()) return;
        if (steps_.empty()) steps_.push_back({});
        auto& lines = steps_.back().lines;
        std::move(lines_.begin(), lines_.end(), std::back_inserter(lines));
        lines_.clear();
    }

    FootprintRecorder* recorder_;
    bool on_ = false;
    std::vector<TraceLine> lines_;
    std::vector<Step> steps_;
    std::string place_;
    TabNames names_;
};

}  // namespace tabacus::lab
