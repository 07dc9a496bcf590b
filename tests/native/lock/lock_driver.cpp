// LockDriver: the transitions of the coroutine that acquires a native lock and grants it.
#include "protocol/lock/queue/lock_driver.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_driver_scene.hpp"

namespace tabacus::test {

TEST_CASE("lock driver: a request makes an idle driver acquire the native lock, and is granted it",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->deferred = true;
    const auto request = scene.serve();
    REQUIRE(parts.holds->acquiring());
    REQUIRE_FALSE(request->ended);
    scene.answer(true);
    REQUIRE(request->ended);
    REQUIRE(request->grant != nullptr);
    REQUIRE(parts.holds->in_use());
    REQUIRE_FALSE(parts.holds->acquiring());
}

TEST_CASE("lock driver: a request in the grace period is granted without the native lock",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->available = true;
    const auto first = scene.serve();
    const auto second = scene.serve();
    REQUIRE_FALSE(second->ended);
    parts.holds->release(*first->grant);
    REQUIRE(second->grant != nullptr);
    parts.holds->release(*second->grant);
    REQUIRE(parts.holds->idle_mode() == LockMode::exclusive);
    const auto third = scene.serve();
    REQUIRE(third->grant != nullptr);
    REQUIRE(parts.native->asked == 1);
    REQUIRE(parts.native->released.empty());
}

TEST_CASE("lock driver: the native lock is released when the grace period is over", "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->available = true;
    parts.holds->release(*scene.serve()->grant);
    REQUIRE(parts.native->released.empty());
    scene.pass(3 * grace_period_ms);
    REQUIRE(parts.native->released.size() == 1);
    REQUIRE_FALSE(parts.holds->any());
    REQUIRE(scene.serve()->grant != nullptr);
    REQUIRE(parts.native->asked == 2);
}

TEST_CASE("lock driver: a hold that is lost is acquired anew for the next request", "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->available = true;
    const auto first = scene.serve();
    const auto second = scene.serve();
    parts.holds->lose(parts.holds->current(), "stolen");
    REQUIRE(first->grant->loss == "stolen");
    REQUIRE(second->grant != nullptr);
    REQUIRE(parts.native->asked == 2);
}

TEST_CASE("lock driver: a refused request passes its native request on to the next one",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->deferred = true;
    const auto first = scene.serve();
    const auto second = scene.serve();
    scene.driver.refuse(first, timeout_error());
    REQUIRE(first->failure->code() == ErrorCode::timed_out);
    REQUIRE(parts.native->cancelled == 0);
    scene.answer(true);
    REQUIRE(second->grant != nullptr);
    REQUIRE(first->grant == nullptr);
    REQUIRE(parts.native->asked == 1);
}

TEST_CASE("lock driver: a refused request without a successor cancels its native request",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->deferred = true;
    const auto request = scene.serve();
    SECTION("there is no other request") {}
    SECTION("the next request asks for another mode") { parts.ask({.mode = LockMode::shared}); }
    scene.driver.refuse(request, timeout_error());
    REQUIRE(parts.native->cancelled == 1);
}

TEST_CASE("lock driver: a request fails as its native request does, and the next one is tried",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->deferred = true;
    parts.native->failure = Error(ErrorCode::store_failed, "the database failed");
    const auto first = scene.serve();
    const auto second = scene.serve();
    scene.answer(true);
    REQUIRE(first->failure->code() == ErrorCode::store_failed);
    REQUIRE(second->grant != nullptr);
    REQUIRE(parts.notices.empty());
}

TEST_CASE("lock driver: a request whose fence is optional is granted unfenced, with a notice",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->available = true;
    parts.native->failure = Error(ErrorCode::quota_exceeded, "the disk is full");
    const auto request = scene.serve({.fence_optional = true});
    REQUIRE(request->grant != nullptr);
    REQUIRE_FALSE(request->grant->token.has_value());
    REQUIRE(parts.notices == std::vector<std::string>{"unfenced-lock"});
}

TEST_CASE("lock driver: an ifAvailable request of a lock in use ends without a failure",
          "[locks]") {
    LockDriverScene scene;
    const auto request = scene.serve({.if_available = true});
    scene.availability.on_busy();
    REQUIRE(request->ended);
    REQUIRE(request->grant == nullptr);
    REQUIRE_FALSE(request->failure.has_value());
    REQUIRE_FALSE(scene.parts.holds->acquiring());
}

TEST_CASE("lock driver: a native lock that comes when the page has stopped is released at once",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->deferred = true;
    const auto request = scene.serve();
    parts.context.state.suspend();
    scene.answer(true);
    REQUIRE(parts.native->released.size() == 1);
    REQUIRE_FALSE(parts.holds->any());
    REQUIRE_FALSE(request->ended);
    parts.context.state.resume();
    scene.driver.start();
    REQUIRE(request->grant != nullptr);
}

TEST_CASE("lock driver: a request that steals is granted beside the coroutine, in any state",
          "[locks]") {
    LockDriverScene scene;
    auto& parts = scene.parts;
    parts.native->available = true;
    const auto previous = scene.serve();
    const auto stealer = parts.make({.steal = true});
    scene.driver.steal(stealer);
    REQUIRE(previous->grant->loss == "stolen");
    REQUIRE(stealer->grant != nullptr);
    REQUIRE(parts.holds->stolen_in_use());
    REQUIRE_FALSE(parts.holds->in_use());
}

}  // namespace tabacus::test
