// FairOrder: the positions of one tab's requests among those of other tabs.
#include <catch2/catch_test_macros.hpp>

#include "lock_parts_scene.hpp"

namespace tabacus::test {
namespace {

/// A tab whose first request is served, and whose second came after another tab's and has a
/// position.
struct SecondInLine : LockPartsScene {
    SecondInLine() {
        first = parts.ask();
        parts.order.pop_position(*first);
        parts.holds->set_acquiring(true);
        parts.contenders.note(parts.contender("b"));
        second = parts.ask();
        parts.order.take_position(second);
        pass(1);
    }
    AcquireRequestPtr first;
    AcquireRequestPtr second;
};

}  // namespace

TEST_CASE("fair order: a request behind another tab's takes a position, which becomes the next",
          "[locks]") {
    SecondInLine scene;
    auto& order = scene.parts.order;
    REQUIRE(order.position_of(*scene.first) == nullptr);
    REQUIRE(order.position_of(*scene.second) != nullptr);
    REQUIRE(scene.parts.native->entries.size() == 1);
    REQUIRE(order.next_position() == nullptr);
    scene.parts.native->grant_entry(0);
    REQUIRE(order.next_position() != nullptr);
    REQUIRE(order.next_position()->owner == scene.second->id);
}

TEST_CASE("fair order: a request that no other tab came before takes no position", "[locks]") {
    LockPartsScene scene;
    const auto first = scene.parts.ask();
    scene.parts.order.pop_position(*first);
    const auto second = scene.parts.ask();
    REQUIRE_FALSE(scene.parts.order.behind_a_contender(*second));
    scene.parts.order.take_position(second);
    scene.pass(1);
    REQUIRE(scene.parts.native->entries.empty());
}

TEST_CASE("fair order: a request that ends passes its position to the tab's next request",
          "[locks]") {
    SecondInLine scene;
    const auto third = scene.parts.ask();
    scene.second->ended = true;
    scene.parts.order.release_position(*scene.second);
    REQUIRE(scene.parts.order.position_of(*third) != nullptr);
    REQUIRE_FALSE(scene.parts.native->entries[0]->over);
}

TEST_CASE("fair order: a position is given up if another tab came before the next request",
          "[locks]") {
    SecondInLine scene;
    auto later = scene.parts.contender("c");
    later.after_position = scene.parts.order.position_of(*scene.second)->number;
    scene.parts.contenders.note(later);
    const auto third = scene.parts.ask();
    scene.second->ended = true;
    scene.parts.order.release_position(*scene.second);
    REQUIRE(scene.parts.order.position_of(*third) == nullptr);
    REQUIRE(scene.parts.native->entries[0]->over);
}

TEST_CASE("fair order: the first request uses its tab's oldest position of its mode", "[locks]") {
    SecondInLine scene;
    auto& order = scene.parts.order;
    const auto number = order.position_of(*scene.second)->number;
    const auto tries = scene.parts.make({.if_available = true});
    REQUIRE(order.pop_position(*tries).entry == nullptr);
    const auto popped = order.pop_position(*scene.parts.make());
    REQUIRE(popped.number == number);
    REQUIRE(popped.owner == scene.second->id);
    REQUIRE(order.current() == number);
}

TEST_CASE("fair order: a position of another mode is given up when its turn comes", "[locks]") {
    SecondInLine scene;
    const auto reads = scene.parts.make({.mode = LockMode::shared});
    REQUIRE(scene.parts.order.pop_position(*reads).entry == nullptr);
    REQUIRE(scene.parts.native->entries[0]->over);
}

TEST_CASE("fair order: a request of another mode than the one before it stands alone", "[locks]") {
    LockPartsScene scene;
    auto& parts = scene.parts;
    parts.ask();
    REQUIRE_FALSE(parts.order.stands_alone(*parts.make()));
    REQUIRE(parts.order.stands_alone(*parts.make({.mode = LockMode::shared})));
    REQUIRE_FALSE(
        parts.order.stands_alone(*parts.make({.mode = LockMode::shared, .if_available = true})));
}

TEST_CASE("fair order: a request with only ifAvailable requests before it stands alone",
          "[locks]") {
    LockPartsScene scene;
    auto& parts = scene.parts;
    parts.ask({.if_available = true});
    REQUIRE_FALSE(parts.order.stands_alone(*parts.make()));
    parts.holds->set_acquiring(true);
    REQUIRE(parts.order.stands_alone(*parts.make()));
}

TEST_CASE("fair order: an announced request is a contender while this tab uses the lock",
          "[locks]") {
    LockPartsScene scene;
    auto& parts = scene.parts;
    const auto announced = [](const std::string& tab, std::vector<std::string> detail) {
        return LockMessage{LockMessage::Kind::request, "l", tab, std::move(detail)};
    };
    const std::string since = format_since(1'000);
    parts.order.on_request(announced("b", {since, "1"}));
    REQUIRE(parts.contenders.empty());
    const auto hold = parts.hold();
    const auto grant = parts.holds->grant({}, hold);
    parts.order.on_request(announced("b", {since, "2", "t"}));
    REQUIRE(parts.contenders.empty());
    parts.order.on_request(announced("b", {since, "3"}));
    REQUIRE_FALSE(parts.contenders.empty());
    REQUIRE_FALSE(parts.contenders.any_tries());
    parts.holds->release(*grant);
    parts.order.on_request(announced("c", {since, "1", "t"}));
    REQUIRE(parts.contenders.any_tries());
}

}  // namespace tabacus::test
