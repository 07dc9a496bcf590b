// RateClock: what one tab knows about the time of a rate limit.
//
// Each rate limit has a time of its own, which passes as monotonic clocks do. A tab knows two
// bounds of it: the time is at least `low` and at most `high`. Both are kept as offsets from the
// tab's monotonic clock, so they rise with it.
//
//   state     meaning                              what ends the state
//   unknown   the tab has not joined, or has       begin(), join(): known
//             stopped since
//   known     low ≤ the time ≤ high                see(): known, perhaps with a later `low`
//                                                  forget(): unknown
//
// forget() also counts, so that a task notices that the time was forgotten while the task waited.
#pragma once

#include <cstdint>
#include <optional>

#include "tabacus/common/world.hpp"

namespace tabacus {

class RateClock {
  public:
    /// `clock` must outlive this.
    explicit RateClock(const Clock& clock) : clock_(clock) {}

    [[nodiscard]] bool known() const { return offsets_.has_value(); }
    /// Returns the number of times that the time was forgotten.
    [[nodiscard]] int resets() const { return resets_; }

    /// Begins the time: it is exactly `at`.
    void begin(std::int64_t at);
    /// Learns the time from a row that was written after the monotonic time `asked_ms`, and is read
    /// at this moment. When the row was written, the time was from `at` to `at` + `ahead`.
    void join(std::int64_t at, std::int64_t ahead, double asked_ms);
    void forget() {
        ++resets_;
        offsets_.reset();
    }

    // The following require that the time is known.

    /// Returns the least that the time may be, in ms.
    [[nodiscard]] std::int64_t now() const;
    /// Returns the most by which the time may be later than now(), in ms.
    [[nodiscard]] std::int64_t ahead() const;
    /// Notes that the time is at least `at`.
    void see(std::int64_t at);

  private:
    struct Offsets {
        double low_ms;
        double high_ms;
    };

    const Clock& clock_;
    std::optional<Offsets> offsets_;
    int resets_ = 0;
};

}  // namespace tabacus
