// The clock and the source of randomness, through js/host/clock.js.
#pragma once

#include <emscripten/val.h>

#include "browser/operations.hpp"
#include "tabacus/world.hpp"

namespace tabacus::browser {

class BrowserClock final : public Clock {
 public:
    BrowserClock(emscripten::val host, Operations& operations)
        : host_(std::move(host)), operations_(operations) {}

    [[nodiscard]] double now_ms() const override;
    Async<Unit> sleep(double delay_ms) override;
    Async<Unit> end_of_turn() override;

 private:
    emscripten::val host_;
    Operations& operations_;
};

class BrowserRandom final : public Random {
 public:
    explicit BrowserRandom(emscripten::val host) : host_(std::move(host)) {}
    std::uint64_t bits() override;

 private:
    emscripten::val host_;
};

}  // namespace tabacus::browser
