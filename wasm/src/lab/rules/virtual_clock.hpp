// VirtualClock: the clock and the timers of a simulated origin. Time passes only when the schedule
// chooses it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "lab/scheduler.hpp"

namespace tabacus::lab {

class VirtualClock {
  public:
    using Callback = Action;
    struct Timer {
        double due_ms;
        TabId tab;
        Callback callback;
        std::uint32_t cause = 0;  // the step that started it
        std::uint64_t id = 0;
    };

    explicit VirtualClock(FootprintRecorder& recorder) : recorder_(&recorder) {}

    [[nodiscard]] double now_ms() const {
        recorder_->note(Object::now, 0, AccessKind::read);
        recorder_->observe([this] { return std::bit_cast<std::uint64_t>(now_ms_); });
        return now_ms_;
    }
    void begin_step(std::uint32_t number) { step_ = number; }
    void jump(double delta_ms) { now_ms_ += delta_ms; }

    /// Starts a timer, and returns its id for cancel().
    std::uint64_t start(TabId tab, double delay_ms, Callback callback) {
        recorder_->note(Object::now, 0, AccessKind::read);
        recorder_->note(Object::timers, 0, AccessKind::bump);
        const auto id = ids_.next(tab);
        timers_.push_back({now_ms_ + std::max(delay_ms, 0.0), tab, std::move(callback), step_, id});
        return id;
    }
    /// Starts a timer that is due at a whole minute, as browsers do for tabs long hidden (HTML
    /// §8.6: "optionally, wait a further implementation-defined length of time").
    std::uint64_t start_throttled(TabId tab, double delay_ms, Callback callback) {
        constexpr double minute_ms = 60'000;
        const double due_ms = std::ceil((now_ms_ + delay_ms) / minute_ms) * minute_ms;
        return start(tab, due_ms - now_ms_, std::move(callback));
    }
    /// Cancels a timer. Does nothing if the timer was already due.
    void cancel(std::uint64_t id) {
        recorder_->note(Object::timers, 0, AccessKind::write);
        std::erase_if(timers_, [id](const Timer& timer) { return timer.id == id; });
    }

    /// Returns a hash of the time and of the timers.
    [[nodiscard]] std::uint64_t digest() const {
        auto sum = mixed(std::bit_cast<std::uint64_t>(now_ms_));
        for (const auto& timer : timers_) {
            sum += lab::digest(timer.tab, std::bit_cast<std::uint64_t>(timer.due_ms), timer.id);
        }
        return sum;
    }

    [[nodiscard]] bool waiting() const { return !timers_.empty(); }
    /// Returns when the next timer is due. Requires that one waits.
    [[nodiscard]] double next_due_ms() const { return timers_[next()].due_ms; }
    /// Lets time pass until the next timer is due, and takes it. If several are due then, the tab
    /// with the lowest number comes first; within a tab, the timer that was started first.
    Timer take_next() {
        const auto next = timers_.begin() + static_cast<std::ptrdiff_t>(this->next());
        recorder_->note(Object::now, 0, AccessKind::write);
        recorder_->note(Object::timers, 0, AccessKind::write);
        Timer timer = std::move(*next);
        timers_.erase(next);
        now_ms_ = std::max(now_ms_, timer.due_ms);
        return timer;
    }
    void drop(TabId tab) {
        recorder_->note(Object::timers, 0, AccessKind::write);
        std::erase_if(timers_, [tab](const Timer& timer) { return timer.tab == tab; });
    }

  private:
    /// Returns the index of the next timer that is due.
    [[nodiscard]] std::size_t next() const {
        const auto found =
            std::min_element(timers_.begin(), timers_.end(), [](const Timer& a, const Timer& b) {
                return std::tie(a.due_ms, a.tab) < std::tie(b.due_ms, b.tab);
            });
        return static_cast<std::size_t>(found - timers_.begin());
    }

    FootprintRecorder* recorder_;
    std::uint32_t step_ = 0;
    OwnedIds ids_;
    double now_ms_ = 1'700'000'000'000;  // a day in November 2023
    std::vector<Timer> timers_;          // in the order in which they were started
};

}  // namespace tabacus::lab
