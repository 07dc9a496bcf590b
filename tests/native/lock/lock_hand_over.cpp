// HandOver: how long a native hold goes on granting.
#include <catch2/catch_test_macros.hpp>

#include "lock_parts_scene.hpp"

namespace tabacus::test {
namespace {

/// A tab that has granted once under its native hold.
struct UsedHold : LockPartsScene {
    UsedHold() : hold(parts.hold()) {
        const auto grant = parts.holds->grant({}, hold);
        parts.holds->release(*grant);
    }
    /// Grants until the hold has granted `uses` times.
    void use(std::uint64_t uses) {
        while (hold->uses < uses) {
            const auto grant = parts.holds->grant({}, hold);
            parts.holds->release(*grant);
        }
    }
    bool may_go_on() {
        std::optional<bool> answer;
        run_in(
            parts.context.scope, parts.hand_over.may_go_on(hold),
            [&](bool goes_on) { answer = goes_on; }, [](const Failure&) {});
        origin.run_until([&] { return answer.has_value(); });
        return *answer;
    }
    std::shared_ptr<NativeHold> hold;
};

}  // namespace

TEST_CASE("hand-over: a hold grants to the first request of its mode, one at a time if exclusive",
          "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
    const auto first = parts.ask();
    REQUIRE(parts.hand_over.admissible(*scene.hold) == first);
    const auto grant = parts.holds->grant({}, scene.hold);
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
    parts.holds->release(*grant);
    first->ended = true;
    parts.ask({.mode = LockMode::shared});
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
}

TEST_CASE("hand-over: a request that another tab waits behind is granted, however late",
          "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    const auto request = parts.ask();
    scene.pass(1);
    parts.contenders.note(parts.contender("b"));
    scene.pass(3 * slice_ms);
    REQUIRE(parts.hand_over.admissible(*scene.hold) == request);
}

TEST_CASE("hand-over: a request that came after another tab's is granted in the barging window",
          "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    parts.contenders.note(parts.contender("b"));
    const auto request = parts.ask();
    REQUIRE(parts.hand_over.admissible(*scene.hold) == request);
    scene.pass(barging_window_ms);
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
    REQUIRE(parts.hand_over.must_release(*scene.hold));
    REQUIRE_FALSE(scene.may_go_on());
}

TEST_CASE("hand-over: the barging window ends after some grants", "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    parts.contenders.note(parts.contender("b"));
    const auto request = parts.ask();
    scene.use(barging_grants_max - 1);
    REQUIRE(parts.hand_over.admissible(*scene.hold) == request);
    scene.use(barging_grants_max);
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
    REQUIRE_FALSE(scene.may_go_on());
}

TEST_CASE("hand-over: a hold between those of other tabs ends after its share, message or none",
          "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    const auto request = parts.ask();
    scene.use(barging_grants_max);
    REQUIRE(parts.hand_over.admissible(*scene.hold) == request);
    scene.hold->tokens.contended = true;
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
    REQUIRE(parts.hand_over.must_release(*scene.hold));
    REQUIRE_FALSE(scene.may_go_on());
}

TEST_CASE("hand-over: requests that waited for the hold are granted beyond its share", "[locks]") {
    LockPartsScene scene;
    auto& parts = scene.parts;
    const auto request = parts.ask();
    scene.pass(1);
    const auto hold = parts.hold();
    hold->tokens.contended = true;
    hold->uses = barging_grants_max;
    REQUIRE(parts.hand_over.admissible(*hold) == request);
}

TEST_CASE("hand-over: the first request under a new hold is granted, whoever came before",
          "[locks]") {
    LockPartsScene scene;
    scene.parts.contenders.note(scene.parts.contender("b"));
    const auto request = scene.parts.ask();
    const auto hold = scene.parts.hold();
    scene.pass(2 * slice_ms);
    REQUIRE(scene.parts.hand_over.admissible(*hold) == request);
}

TEST_CASE("hand-over: after its slice a hold goes on only if no other tab waits", "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    scene.pass(slice_ms + 1);
    const auto request = parts.ask();
    REQUIRE(parts.hand_over.admissible(*scene.hold) == nullptr);
    parts.native->others_wait = true;
    REQUIRE_FALSE(scene.may_go_on());
    parts.native->others_wait = false;
    REQUIRE(scene.may_go_on());
    REQUIRE(parts.hand_over.admissible(*scene.hold) == request);
}

TEST_CASE("hand-over: the barging window ends when no caller asks again", "[locks]") {
    UsedHold scene;
    scene.parts.contenders.note(scene.parts.contender("b"));
    const auto began_ms = scene.parts.lock.clock().monotonic_ms();
    REQUIRE_FALSE(scene.may_go_on());
    REQUIRE(scene.parts.lock.clock().monotonic_ms() == began_ms);
}

TEST_CASE("hand-over: a grant begins the grace period again", "[locks]") {
    UsedHold scene;
    auto& parts = scene.parts;
    parts.hand_over.start_grace_timer(scene.hold);
    scene.pass(grace_period_ms / 2);
    const auto grant = parts.holds->grant({}, scene.hold);
    parts.holds->release(*grant);
    scene.pass(grace_period_ms);
    REQUIRE_FALSE(scene.hold->expired);
    scene.pass(grace_period_ms);
    REQUIRE(scene.hold->expired);
    REQUIRE(parts.hand_over.must_release(*scene.hold));
}

TEST_CASE("hand-over: a hidden page keeps no hold", "[locks]") {
    UsedHold scene;
    REQUIRE_FALSE(scene.parts.hand_over.must_release(*scene.hold));
    scene.origin.hide(scene.tab);
    scene.pass(1);
    REQUIRE(scene.parts.hand_over.must_release(*scene.hold));
}

}  // namespace tabacus::test
