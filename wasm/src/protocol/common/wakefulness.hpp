// Wakefulness: whether the timers of this tab run in time. A tab that was suspended, hung or
// throttled finds them late.
//
// A caller makes a Period for the time in which it has to know that.
//
//   periods   meaning                                      what ends the state
//   none      no timer runs                                a Period is made
//   some      one timer checks every 50 ms, for all        the last Period is destroyed or over, or
//             periods                                      the timer is late
#pragma once

#include <cstdint>

#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class Wakefulness {
  public:
    /// The timer runs in `scope`.
    Wakefulness(Clock& clock, Scope& scope) : clock_(clock), scope_(scope) {}

    /// A period of at most `most_ms`, which begins with its construction.
    class Period {
      public:
        Period(Wakefulness& of, double most_ms)
            : of_(of),
              end_ms_(of.clock_.monotonic_ms() + most_ms),
              late_before_(of.begin(end_ms_)) {}
        Period(const Period&) = delete;
        Period& operator=(const Period&) = delete;
        Period(Period&&) = delete;
        Period& operator=(Period&&) = delete;
        ~Period() { --of_.periods_; }

        /// Whether all timers have run in time since the period began, and the period is not over.
        [[nodiscard]] bool in_time() const {
            return of_.late_ == late_before_ && of_.in_time() &&
                   of_.clock_.monotonic_ms() < end_ms_;
        }

      private:
        Wakefulness& of_;
        double end_ms_;
        std::uint64_t late_before_;
    };

  private:
    std::uint64_t begin(double end_ms);
    /// Notes whether the timers are in time, and returns it.
    bool check();
    [[nodiscard]] bool in_time() const;
    Task<void> run();

    Clock& clock_;
    Scope& scope_;
    int periods_ = 0;
    double end_ms_ = 0;  // of the period that ends last, by the monotonic clock
    bool running_ = false;
    std::uint64_t late_ = 0;  // how often the timers were late
    double seen_ms_ = 0;      // when they last ran
};

}  // namespace tabacus
