// LockEvictor: when a tab takes a lock from a holder that hangs, and when it leaves it alone.
#include "protocol/lock/queue/lock_evictor.hpp"

#include <catch2/catch_test_macros.hpp>

#include "lock_driver_scene.hpp"
#include "protocol/common/record.hpp"

namespace tabacus::test {
namespace {

/// A tab that waits for a lock which another tab holds.
struct EvictionScene : LockDriverScene {
    EvictionScene() {
        hold_elsewhere(neighbour.names.lock("l"));
        parts.holds->set_acquiring(true);
    }
    [[nodiscard]] std::ptrdiff_t evictions() const {
        return std::count(parts.notices.begin(), parts.notices.end(), "hung-holder");
    }
    /// Whether the evictor of this tab, or another one of the same tab, evicts a silent holder.
    bool evicts_silent(LockEvictor& by, Function<bool()> silent) {
        std::optional<bool> evicted;
        run_in(
            parts.context.scope, by.evict_silent(std::move(silent)),
            [&](bool did) { evicted = did; }, [&](const Failure&) { evicted = false; });
        origin.run_until([&] { return evicted.has_value(); });
        return *evicted;
    }
};

bool always() { return true; }

}  // namespace

TEST_CASE("lock evictor: a holder that shows no movement for maxHold is evicted, with a notice",
          "[locks]") {
    EvictionScene scene;
    scene.parts.ask({.max_hold_ms = 100});
    scene.evictor.start();
    scene.pass(300);
    REQUIRE(scene.evictions() == 0);
    scene.pass(200);
    REQUIRE(scene.evictions() == 1);
    REQUIRE(scene.neighbour.lost == 1);
    REQUIRE(scene.parts.notices == std::vector<std::string>{"hung-holder"});
}

TEST_CASE("lock evictor: a grant that another tab announces begins the wait for maxHold anew",
          "[locks]") {
    EvictionScene scene;
    scene.parts.ask({.max_hold_ms = 100});
    scene.evictor.start();
    scene.pass(300);
    scene.evictor.on_movement();
    scene.pass(200);
    REQUIRE(scene.evictions() == 0);
    scene.pass(300);
    REQUIRE(scene.evictions() == 1);
}

TEST_CASE("lock evictor: a tab that has the lock, or gave up, evicts nobody", "[locks]") {
    EvictionScene scene;
    scene.parts.ask({.max_hold_ms = 100});
    scene.evictor.start();
    scene.pass(300);
    scene.parts.holds->set_acquiring(false);
    scene.evictor.check_again();
    scene.pass(1'000);
    REQUIRE(scene.evictions() == 0);
    scene.parts.holds->set_acquiring(true);
    scene.evictor.start();
    scene.pass(1'000);
    REQUIRE(scene.neighbour.lost == 1);
}

TEST_CASE("lock evictor: without a maxHold nobody is evicted until a request declares one",
          "[locks]") {
    EvictionScene scene;
    scene.parts.ask();
    scene.evictor.start();
    scene.pass(20'000);
    REQUIRE(scene.neighbour.lost == 0);
    scene.parts.ask({.max_hold_ms = 100});
    scene.evictor.check_again();
    scene.pass(6'000);
    REQUIRE(scene.neighbour.lost == 1);
}

TEST_CASE("lock evictor: a holder that declares a maxHold in the lock's row is evicted",
          "[locks]") {
    EvictionScene scene;
    LockRow row;
    row.last = row.fence = 1;
    row.born = identifier_of(1);
    row.grant = identifier_of(2);
    row.tab = identifier_of(3);
    row.max_hold_ms = 100;
    scene.origin.database().overwrite(Store::locks, "l",
                                      lab::StoredValue{format_lock_row(row), false});
    scene.parts.ask();
    scene.evictor.start();
    scene.pass(1'000);
    REQUIRE(scene.evictions() == 1);
}

TEST_CASE("lock evictor: a claim of another tab is taken over when nothing moves after it",
          "[locks]") {
    EvictionScene scene;
    bool first = true;
    // It claims the eviction, and stops before it evicts.
    REQUIRE_FALSE(
        scene.evicts_silent(scene.evictor, [&first] { return std::exchange(first, false); }));
    LockEvictor later(scene.parts.lock, scene.parts.requests, *scene.parts.holds);
    REQUIRE_FALSE(scene.evicts_silent(later, always));
    REQUIRE(scene.neighbour.lost == 0);
    REQUIRE(scene.evicts_silent(later, always));
    REQUIRE(scene.neighbour.lost == 1);
}

TEST_CASE("lock evictor: a silent holder is evicted only while there is one, and it is silent",
          "[locks]") {
    EvictionScene scene;
    REQUIRE_FALSE(scene.evicts_silent(scene.evictor, [] { return false; }));
    scene.neighbour.held.clear();
    scene.pass(10);
    REQUIRE_FALSE(scene.evicts_silent(scene.evictor, always));
    REQUIRE(scene.evictions() == 0);
}

}  // namespace tabacus::test
