// Holders that are asked whether they live: one that answers keeps the lock, and one that does not
// is evicted in time.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using Failures = std::vector<std::string>;

/// A holder that stops is succeeded within this time, if a tab that waits is visible.
constexpr double visible_bound_ms = 10'000;

std::unique_ptr<lab::Chooser> timely(std::uint64_t seed) {
    return std::make_unique<TimeLastChooser>(seed);
}

LockOptions evicting() { return {.evict_unresponsive = true}; }

/// Steps until the request is granted, and returns how long that took.
double granted_after_ms(LockScene& scene, const LockPage::RequestPtr& request) {
    const auto began_ms = scene.origin.clock().now_ms();
    scene.until([&] { return request->granted; });
    return scene.origin.clock().now_ms() - began_ms;
}

int warnings(const LockPage& page) {
    return static_cast<int>(std::ranges::count_if(
        page.notices, [](const Notice& notice) { return notice.code == "hung-holder"; }));
}

}  // namespace

TEST_CASE("lock: a holder that answers keeps the lock, however long others wait") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), timely(seed));
        const auto holder = scene.open();
        const auto held = holder.page->hold(evicting());
        scene.until([&] { return held->granted; });
        for (int i = 0; i < 3; ++i) scene.open().page->count(evicting());
        wait_ms(scene, *holder.page, 600'000);
        CHECK(held->loss.empty());
        CHECK(scene.origin.locks().steals() == 0);
        held->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.order.size() == 4);
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: a suspended holder is succeeded within 10 s, and can write nothing afterwards") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), timely(seed));
        scene.judge.lenient = true;
        const auto suspended = scene.open();
        const auto slow = suspended.page->count(evicting(), 1, 1'000'000);
        scene.until([&] { return slow->granted; });
        const auto first = scene.open();
        const auto other = scene.open();
        const auto next = first.page->count(evicting());
        const auto last = other.page->count(evicting());
        wait_ms(scene, *other.page, static_cast<double>(scene.random.below(60'000)));
        scene.origin.suspend(*suspended.tab);
        CHECK(granted_after_ms(scene, next) < visible_bound_ms);
        scene.until([&] { return next->ended && last->ended; });
        CHECK(warnings(*first.page) + warnings(*other.page) == 1);
        scene.origin.wake(*suspended.tab);
        scene.origin.run();
        CHECK(slow->loss == "stolen");
        CHECK_FALSE(slow->commit_errors.empty());
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.stored() == 2);
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: a lock whose holder is gone is taken within 10 s") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), timely(seed));
        const auto gone = scene.open();
        const auto held = gone.page->hold();
        scene.until([&] { return held->granted; });
        wait_ms(scene, *gone.page, 1'000);
        scene.origin.orphan_locks(*gone.tab);
        const auto next = scene.open().page->count(evicting());
        CHECK(granted_after_ms(scene, next) < visible_bound_ms);
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a visible tab passes a holder and a waiter that are both suspended") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), timely(seed));
        scene.judge.lenient = true;
        for (int i = 0; i < 4; ++i) scene.open();
        std::vector<LockPage::RequestPtr> requests;
        for (const auto& member : scene.members) {
            requests.push_back(member.page->hold(evicting()));
            wait_ms(scene, *member.page, 100);
        }
        for (std::size_t i = 0; i < 3; ++i) scene.origin.hide(*scene.members[i].tab);
        wait_ms(scene, *scene.members[3].page, static_cast<double>(scene.random.below(60'000)));
        for (std::size_t i = 0; i < 3; ++i) scene.origin.suspend(*scene.members[i].tab);
        // Each tab that was suspended while it waited takes half a second more.
        CHECK(granted_after_ms(scene, requests[3]) < visible_bound_ms + 1'000);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a hidden tab succeeds a suspended holder once its timers have run") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), timely(seed));
        scene.judge.lenient = true;
        const auto holder = scene.open();
        const auto held = holder.page->hold(evicting());
        scene.until([&] { return held->granted; });
        const auto waiting = scene.open();
        const auto next = waiting.page->count(evicting());
        scene.origin.hide(*holder.tab);
        scene.origin.hide(*waiting.tab);
        wait_ms(scene, *waiting.page, 300'000);
        CHECK(scene.origin.locks().steals() == 0);  // the holder answers, hidden or not
        scene.origin.suspend(*holder.tab);
        // Timers of the simulated tab fire at whole minutes, whatever sets them.
        CHECK(granted_after_ms(scene, next) <= 120'000);
        CHECK(scene.judge.failures == Failures{});
    }
}

TEST_CASE("lock: a tab that receives no messages evicts no holder that would answer") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), timely(seed));
        const auto holder = scene.open();
        const auto silenced = scene.open();
        scene.origin.drop_messages(*silenced.tab);
        const auto held = holder.page->hold();
        scene.until([&] { return held->granted; });
        const auto waiting = silenced.page->count(evicting());
        wait_ms(scene, *holder.page, 60'000);
        CHECK(scene.origin.locks().steals() == 0);
        CHECK(held->loss.empty());
    }
}

TEST_CASE("lock: a request without the option evicts nobody") {
    LockScene scene(1, StorageModel::cached, timely(1));
    const auto holder = scene.open();
    const auto held = holder.page->hold(evicting());
    scene.until([&] { return held->granted; });
    const auto waiting = scene.open();
    const auto next = waiting.page->count({});
    scene.origin.suspend(*holder.tab);
    wait_ms(scene, *waiting.page, 600'000);
    CHECK_FALSE(next->ended);
    CHECK(scene.origin.locks().steals() == 0);
}

}  // namespace tabacus::test
