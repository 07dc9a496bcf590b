// The clock and the source of randomness, through js/host/clock.js.
#pragma once

#include "browser/core/operations.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserClock final : public Clock {
  public:
    explicit BrowserClock(Operations& operations) : operations_(operations) {}

    [[nodiscard]] double now_ms() const override { return host::clock_now(); }
    [[nodiscard]] double monotonic_ms() const override { return host::clock_monotonic(); }
    Async<Unit> sleep(double delay_ms) override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::clock_sleep(operation, delay_ms);
        return std::move(answer);
    }
    Async<Unit> after_microtasks(int count) override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::clock_after_microtasks(operation, count);
        return std::move(answer);
    }

  private:
    Operations& operations_;
};

class BrowserRandom final : public Random {
  public:
    /// A JavaScript number holds 32 random bits exactly, and not 64.
    std::uint64_t bits() override {
        const auto high = static_cast<std::uint64_t>(host::clock_random32());
        return high << 32 | static_cast<std::uint64_t>(host::clock_random32());
    }
};

}  // namespace tabacus::browser
