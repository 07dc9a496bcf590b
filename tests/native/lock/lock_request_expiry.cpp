// RequestExpiry: how requests with `timeout` or `ifAvailable` end.
#include "protocol/lock/queue/request_expiry.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_driver_scene.hpp"

namespace tabacus::test {
namespace {

struct ExpiryScene : LockDriverScene {
    /// A request with a timeout of 100 ms, which has begun.
    AcquireRequestPtr serve_timed() {
        auto request = serve({.timeout_ms = 100});
        expiry.start_timeout(request);
        return request;
    }
    RequestExpiry expiry{parts.lock, parts.requests, *parts.holds, availability, driver};
};

}  // namespace

TEST_CASE("request expiry: a request that waits behind its own tab ends late after its timeout",
          "[locks]") {
    ExpiryScene scene;
    scene.parts.native->available = true;
    const auto holder = scene.serve();
    const auto request = scene.serve_timed();
    scene.pass(95);
    REQUIRE_FALSE(request->ended);
    scene.pass(5 + 4 * grace_period_ms);
    REQUIRE(request->ended);
    REQUIRE(request->expired);
    REQUIRE(request->grant == nullptr);
    REQUIRE(holder->grant->held);
}

TEST_CASE("request expiry: a request that was granted in time is left alone", "[locks]") {
    ExpiryScene scene;
    scene.parts.native->available = true;
    const auto request = scene.serve_timed();
    scene.pass(300);
    REQUIRE(request->grant->held);
    REQUIRE_FALSE(request->expired);
}

TEST_CASE("request expiry: a late request is granted a lock whose first answer comes after it",
          "[locks]") {
    ExpiryScene scene;
    scene.parts.native->deferred = true;
    const auto request = scene.serve_timed();
    scene.pass(110);
    REQUIRE(request->expired);
    REQUIRE_FALSE(request->ended);
    scene.answer(true);
    REQUIRE(request->grant != nullptr);
    REQUIRE_FALSE(request->failure.has_value());
}

TEST_CASE("request expiry: a late request fails soon if it is known to wait for another tab",
          "[locks]") {
    ExpiryScene scene;
    scene.parts.native->deferred = scene.parts.native->known_to_wait = true;
    const auto request = scene.serve_timed();
    // That tab may merely keep the lock, and is given the time to release it.
    scene.pass(100 + grace_period_ms);
    REQUIRE_FALSE(request->ended);
    scene.pass(3 * grace_period_ms);
    REQUIRE(request->failure->code() == ErrorCode::timed_out);
    REQUIRE(scene.parts.native->cancelled == 1);
}

TEST_CASE("request expiry: a late request without any answer fails after a second", "[locks]") {
    ExpiryScene scene;
    scene.parts.native->deferred = true;
    const auto request = scene.serve_timed();
    scene.pass(1'000);
    REQUIRE_FALSE(request->ended);
    scene.pass(150);
    REQUIRE(request->failure->code() == ErrorCode::timed_out);
}

TEST_CASE("request expiry: an ifAvailable request behind another one ends once answers had time",
          "[locks]") {
    ExpiryScene scene;
    scene.parts.native->deferred = true;
    const auto first = scene.serve();
    const auto tries = scene.serve({.if_available = true});
    scene.expiry.start_try(tries);
    scene.pass(grace_period_ms);
    REQUIRE_FALSE(tries->ended);
    scene.pass(4 * grace_period_ms);
    REQUIRE(tries->ended);
    REQUIRE_FALSE(tries->failure.has_value());
    REQUIRE_FALSE(first->ended);
}

TEST_CASE("request expiry: an ifAvailable request that nothing answers ends after a second",
          "[locks]") {
    ExpiryScene scene;
    scene.parts.native->deferred = true;
    const auto tries = scene.serve({.if_available = true});
    scene.expiry.start_try(tries);
    scene.pass(900);
    REQUIRE_FALSE(tries->ended);
    scene.pass(250);
    REQUIRE(tries->ended);
    REQUIRE(tries->grant == nullptr);
}

}  // namespace tabacus::test
