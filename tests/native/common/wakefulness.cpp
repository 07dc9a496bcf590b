// Wakefulness: which delays of a tab's timers a period notices, and how many timers it needs.
#include "protocol/common/wakefulness.hpp"

#include <catch2/catch_test_macros.hpp>
#include <deque>

namespace tabacus::test {
namespace {

class ManualClock final : public Clock {
  public:
    [[nodiscard]] double now_ms() const override { return now; }
    [[nodiscard]] double monotonic_ms() const override { return now; }
    Async<Unit> sleep(double /*delay_ms*/) override {
        sleepers.emplace_back();
        return sleepers.back().async();
    }
    Async<Unit> after_microtasks(int /*count*/) override { return Unit{}; }

    /// Lets time pass, and then lets every timer run.
    void pass(double delay_ms) {
        now += delay_ms;
        auto due = std::exchange(sleepers, {});
        for (const auto& sleeper : due) sleeper.complete({});
    }

    double now = 1'000;
    std::deque<Completer<Unit>> sleepers;
};

struct Fixture {
    ManualClock clock;
    Scope scope;
    Wakefulness wakefulness{clock, scope};
};

}  // namespace

TEST_CASE("wakefulness: timers that run in time keep a period in time, until it is over") {
    Fixture tab;
    const Wakefulness::Period period(tab.wakefulness, 500);
    for (int i = 0; i < 9; ++i) tab.clock.pass(50);
    CHECK(period.in_time());
    tab.clock.pass(50);
    CHECK_FALSE(period.in_time());
    CHECK(tab.clock.sleepers.empty());
    const Wakefulness::Period next(tab.wakefulness, 500);
    tab.clock.pass(50);
    CHECK(next.in_time());
}

TEST_CASE(
    "wakefulness: a timer that is late counts for every period of that time, and for no later "
    "one") {
    Fixture tab;
    const Wakefulness::Period early(tab.wakefulness, 2'000);
    tab.clock.pass(50);
    const Wakefulness::Period late(tab.wakefulness, 2'000);
    tab.clock.pass(151);
    tab.clock.pass(50);
    CHECK_FALSE(early.in_time());
    CHECK_FALSE(late.in_time());
    const Wakefulness::Period afterwards(tab.wakefulness, 2'000);
    tab.clock.pass(50);
    CHECK(afterwards.in_time());
}

TEST_CASE(
    "wakefulness: a tab that is late at this moment is not in time, nor one whose clock was set "
    "back") {
    Fixture tab;
    const Wakefulness::Period period(tab.wakefulness, 2'000);
    tab.clock.now += 101;
    CHECK_FALSE(period.in_time());
    tab.clock.now -= 102;
    CHECK_FALSE(period.in_time());
}

TEST_CASE("wakefulness: all periods need one timer, which ends with the last of them") {
    Fixture tab;
    {
        const Wakefulness::Period one(tab.wakefulness, 2'000);
        const Wakefulness::Period two(tab.wakefulness, 2'000);
        CHECK(tab.clock.sleepers.size() == 1);
        tab.clock.pass(50);
        CHECK(tab.clock.sleepers.size() == 1);
    }
    tab.clock.pass(50);
    CHECK(tab.clock.sleepers.empty());
    CHECK(tab.scope.idle());
}

}  // namespace tabacus::test
