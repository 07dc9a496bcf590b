// NativeHolds: the native holds of one tab, and the grants under them.
#include <catch2/catch_test_macros.hpp>

#include "lock_parts_scene.hpp"

namespace tabacus::test {

TEST_CASE("native holds: a hold stays in its grace period after its last grant", "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto hold = scene.parts.hold();
    const auto first = holds.grant({}, hold);
    REQUIRE(holds.in_use());
    REQUIRE(first->token == 1);
    REQUIRE_FALSE(holds.idle_mode().has_value());
    holds.release(*first);
    REQUIRE_FALSE(holds.in_use());
    REQUIRE(holds.idle_mode() == LockMode::exclusive);
    REQUIRE(scene.parts.native->released.empty());
    REQUIRE(holds.grant({}, hold)->token == 2);
}

TEST_CASE("native holds: an end releases the native lock, and notifies watchers", "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto hold = scene.parts.hold();
    int changes = 0;
    const auto watch = scene.parts.listeners.on_change([&changes] { ++changes; });
    holds.end(hold);
    REQUIRE(holds.current() == nullptr);
    REQUIRE(scene.parts.native->released == std::vector{hold});
    REQUIRE(changes == 1);
}

TEST_CASE("native holds: a grant that was entered again is released by itself", "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto outer = holds.grant({.label = "outer"}, scene.parts.hold());
    const LockOptions within{.within = outer};
    REQUIRE(holds.outer_of(within) == outer);
    const auto inner = holds.reenter(outer, within);
    REQUIRE(inner->token == outer->token);
    REQUIRE(inner->label == "outer");
    holds.release(*outer);
    REQUIRE(holds.in_use());
    REQUIRE(holds.outer_of({.within = inner}) == inner);
    holds.release(*inner);
    REQUIRE_FALSE(holds.in_use());
    REQUIRE(holds.outer_of({.within = inner}) == nullptr);
}

TEST_CASE("native holds: a release takes effect when the last commit has ended", "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto grant = holds.grant({}, scene.parts.hold());
    grant->commits = 2;
    holds.release(*grant);
    REQUIRE_FALSE(grant->held);
    grant->commits = 1;
    holds.commit_ended(*grant);
    REQUIRE(holds.in_use());
    grant->commits = 0;
    holds.commit_ended(*grant);
    REQUIRE_FALSE(holds.in_use());
}

TEST_CASE("native holds: a loss notifies each holder once, and the lock is released once",
          "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto hold = scene.parts.hold(LockMode::shared);
    const auto first = holds.grant({}, hold);
    const auto second = holds.grant({}, hold);
    holds.release(*second);
    std::vector<std::string> reasons;
    for (const auto& grant : {first, second}) {
        grant->on_lost.emplace_back([&](std::string_view why) { reasons.emplace_back(why); });
    }
    holds.lose(hold, "stolen");
    holds.lose(hold, "closed");
    REQUIRE(reasons == std::vector<std::string>{"stolen"});
    REQUIRE(first->loss == "stolen");
    REQUIRE_FALSE(first->held);
    REQUIRE(second->loss.empty());
    REQUIRE(scene.parts.native->released.size() == 1);
    holds.end(hold);
    REQUIRE(scene.parts.native->released.size() == 1);
}

TEST_CASE("native holds: a stolen hold is released with its one grant", "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto stolen = std::make_shared<NativeHold>();
    stolen->tokens.last = 1;
    holds.adopt_stolen(stolen);
    const auto grant = holds.grant({}, stolen);
    REQUIRE(holds.stolen_in_use());
    REQUIRE_FALSE(holds.in_use());
    REQUIRE(holds.holders() == std::vector{grant});
    holds.release(*grant);
    REQUIRE_FALSE(holds.any());
    REQUIRE(scene.parts.native->released == std::vector{stolen});
}

TEST_CASE("native holds: an exclusive grant beyond maxHold loses the hold, with a notice",
          "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto hold = scene.parts.hold();
    const auto grant = holds.grant({.max_hold_ms = 100}, hold);
    scene.pass(90);
    holds.check_max_hold(grant);
    REQUIRE(grant->held);
    scene.pass(20);
    REQUIRE_FALSE(grant->held);
    REQUIRE(grant->loss == "max-hold");
    REQUIRE(hold->lost);
    REQUIRE(scene.parts.notices == std::vector<std::string>{"max-hold"});
}

TEST_CASE("native holds: a shared grant beyond maxHold ends alone", "[locks]") {
    LockPartsScene scene;
    auto& holds = *scene.parts.holds;
    const auto hold = scene.parts.hold(LockMode::shared);
    const auto bounded = holds.grant({.max_hold_ms = 100}, hold);
    const auto other = holds.grant({}, hold);
    scene.pass(110);
    REQUIRE(bounded->loss == "max-hold");
    REQUIRE_FALSE(bounded->held);
    REQUIRE(other->held);
    REQUIRE_FALSE(hold->lost);
}

}  // namespace tabacus::test
