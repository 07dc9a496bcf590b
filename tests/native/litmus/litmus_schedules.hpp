// Schedules: runs a tiny scenario under one schedule of each class of equivalent ones.
//
// The search is depth first, and runs the scenario from its beginning for each schedule. It has
// sleep sets (Godefroid: "Partial-Order Methods for the Verification of Concurrent Systems", 1996,
// chapter 5): a step that was tried at a point sleeps until a step that depends on it has happened.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "lab/origin.hpp"

namespace tabacus::test {

class Schedules {
  public:
    using Source = lab::Source;
    /// Returns whether the order of two steps that can both happen makes a difference. It must be
    /// symmetric. True is always correct.
    using Depend = std::function<bool(const Source&, const Source&)>;

    /// Returns whether a step is independent of all steps that can happen before it. Then no other
    /// step need be tried in its place (a persistent set of one: Godefroid, chapter 4). False is
    /// always correct.
    using Alone = std::function<bool(const Source&)>;

    Schedules(Depend depend, Alone alone) : depend_(std::move(depend)), alone_(std::move(alone)) {}

    /// Runs `scenario` once for each schedule. Requires that it does the same under the same
    /// choices; throws std::logic_error if it does not.
    void run(const std::function<void(std::unique_ptr<lab::Chooser>)>& scenario) {
        do {
            depth_ = 0;
            try {
                scenario(std::make_unique<Follower>(*this));
                ++completed_;
            } catch (const Redundant&) {
                ++redundant_;
            }
        } while (advance());
    }
    [[nodiscard]] std::size_t completed() const { return completed_; }
    /// Returns how many schedules were abandoned because they are equivalent to another.
    [[nodiscard]] std::size_t redundant() const { return redundant_; }

  private:
    struct Redundant : std::exception {};
    struct Frame {
        std::vector<Source> possible;
        std::set<Source> asleep;
        std::size_t taken = 0;
        bool only = false;  // no other step than the taken one need be tried

        /// Takes the first step from index `from` on that is awake. Returns false if there is none.
        bool wake(std::size_t from) {
            if (only) return false;
            taken = from;
            while (taken < possible.size() && asleep.contains(possible[taken])) ++taken;
            return taken < possible.size();
        }
    };
    class Follower final : public lab::Chooser {
      public:
        explicit Follower(Schedules& schedules) : schedules_(schedules) {}
        std::size_t choose(const std::vector<Source>& choices) override {
            return schedules_.choose(choices);
        }

      private:
        Schedules& schedules_;
    };

    std::size_t choose(const std::vector<Source>& choices) {
        if (depth_ == frames_.size()) {
            Frame frame{choices, inherited()};
            const auto lone = std::find_if(choices.begin(), choices.end(), alone_);
            frame.only = lone != choices.end();
            frame.taken = static_cast<std::size_t>(lone - choices.begin());
            if (frame.only ? frame.asleep.contains(*lone) : !frame.wake(0)) throw Redundant();
            frames_.push_back(std::move(frame));
        }
        const auto& frame = frames_[depth_++];
        if (frame.possible != choices) throw std::logic_error("the scenario is not deterministic");
        return frame.taken;
    }

    /// Returns the steps that sleep at a new depth: those that slept or were tried one step before,
    /// and are independent of the step that led here.
    [[nodiscard]] std::set<Source> inherited() const {
        if (frames_.empty()) return {};
        const auto& frame = frames_.back();
        auto asleep = frame.asleep;
        std::erase_if(asleep, [&](const Source& source) {
            return depend_(source, frame.possible[frame.taken]);
        });
        return asleep;
    }

    bool advance() {
        while (!frames_.empty()) {
            auto& frame = frames_.back();
            frame.asleep.insert(frame.possible[frame.taken]);
            if (frame.wake(frame.taken + 1)) return true;
            frames_.pop_back();
        }
        return false;
    }

    Depend depend_;
    Alone alone_;
    std::vector<Frame> frames_;
    std::size_t depth_ = 0;
    std::size_t completed_ = 0;
    std::size_t redundant_ = 0;
};

}  // namespace tabacus::test
