// Availability: whether another tab uses a lock or merely keeps it.
#include "protocol/lock/queue/availability.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_parts_scene.hpp"

namespace tabacus::test {
namespace {

/// A tab that requests a lock which another tab has.
struct AskedScene : LockPartsScene {
    AskedScene() {
        run_in(
            parts.context.scope, availability.acquire({.if_available = true, .claim = {}}),
            [this](std::shared_ptr<NativeHold> hold) {
                ended = true;
                taken = std::move(hold);
            },
            [](const Failure&) {});
    }
    Availability availability{parts.lock};
    bool ended = false;
    std::shared_ptr<NativeHold> taken;
};

}  // namespace

TEST_CASE("availability: a lock that another tab merely kept is acquired once it is released",
          "[locks]") {
    AskedScene scene;
    REQUIRE(scene.availability.refused());
    scene.availability.on_release();
    REQUIRE(scene.parts.native->asked == 2);
    REQUIRE_FALSE(scene.ended);
    scene.parts.native->available = true;
    scene.availability.on_release();
    REQUIRE(scene.ended);
    REQUIRE(scene.taken != nullptr);
    REQUIRE_FALSE(scene.availability.refused());
}

TEST_CASE("availability: if the other tab answers that it uses the lock, no request follows",
          "[locks]") {
    AskedScene scene;
    scene.availability.on_busy();
    REQUIRE(scene.availability.busy());
    REQUIRE(scene.ended);
    REQUIRE(scene.taken == nullptr);
    REQUIRE(scene.parts.native->asked == 1);
    scene.availability.forget_answers();
    REQUIRE_FALSE(scene.availability.busy());
}

TEST_CASE("availability: without an answer the native lock is requested once more", "[locks]") {
    AskedScene scene;
    scene.parts.native->available = true;
    scene.pass(10 * grace_period_ms);
    REQUIRE(scene.parts.native->asked == 2);
    REQUIRE(scene.taken != nullptr);
}

}  // namespace tabacus::test
