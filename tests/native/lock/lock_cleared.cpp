// Locks and limits whose database vanishes. After site data was cleared, new tabs may have another
// lock manager than old ones, which then must take part in no exclusion any more.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lock/lock_scene.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "seeds.hpp"
#include "tabacus/limit/limits.hpp"

namespace tabacus::test {
namespace {

using Failures = std::vector<std::string>;

constexpr std::int64_t hour_ms = 3'600'000;

/// A page whose locks and limits rest on a watched database, as those of a tab do.
class WatchedPage final : private StoreUser {
  public:
    WatchedPage(LabTab& tab, LockJudge& judge, int& last_request)
        : locks(tab, judge, last_request),
          limits(tab, "test", [](const Notice&) {}),
          loss_detector(tab, Names("test"), [this](const Notice&) { ++losses; }, this) {
        tab.post([this] { loss_detector.start(); });
    }

    LockPage locks;
    Limits limits;
    int losses = 0;
    bool cut_off = false;
    StoreLossDetector loss_detector;

  private:
    void store_vanished() override {
        locks.table().store_vanished();
        limits.store_vanished();
    }
    void store_settled(bool shared) override {
        cut_off |= !shared;
        locks.table().store_settled(shared);
        if (shared) return;
        limits.store_vanished();
        limits.cut_off();
    }
};

struct ClearedScene : LockScene {
    explicit ClearedScene(std::uint64_t seed) : LockScene(seed, model_of_seed(seed)) {}
    WatchedPage& open_watched(Platform platform = {}) {
        auto& tab = origin.open_tab(platform);
        return tab.run<WatchedPage>(tab, judge, last_request);
    }
    /// Clears the site's data, as Chromium does when a response asks for it.
    void clear_with_new_locks() {
        origin.clear_site_data();
        origin.add_lock_manager();
    }
};

}  // namespace

TEST_CASE("cleared: a database that vanishes takes every lock with it, and tabs lock again") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        ClearedScene scene(seed);
        auto& one = scene.open_watched();
        auto& two = scene.open_watched();
        const auto held = one.locks.hold();
        const auto other = two.locks.hold({}, "m");
        scene.origin.run();
        REQUIRE((held->granted && other->granted));
        const auto next = two.locks.count({});
        scene.steps(scene.random.below(40));
        scene.origin.clear_site_data();
        scene.until([&] { return next->ended; });
        scene.until([&] { return !held->loss.empty() && !other->loss.empty(); });
        CHECK(held->loss == "site-data-cleared");
        CHECK(other->loss == "site-data-cleared");
        CHECK(next->granted);
        const auto again = one.locks.count({});
        scene.until([&] { return again->ended; });
        CHECK((again->granted && !one.cut_off && !two.cut_off));
        CHECK((one.losses == 1 && two.losses == 1));
        CHECK(scene.judge.failures == Failures{});
        held->let_go.complete({});
        other->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("cleared: without Web Locks, tabs lock again in the new database") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        ClearedScene scene(seed);
        auto& one = scene.open_watched({.locks = false});
        auto& two = scene.open_watched({.locks = false});
        const auto held = one.locks.hold();
        scene.steps(300);  // a lease is renewed for ever
        REQUIRE(held->granted);
        scene.steps(scene.random.below(40));
        scene.origin.clear_site_data();
        scene.until([&] { return one.losses == 1 && two.losses == 1; });
        scene.steps(300);
        CHECK((held->loss == "site-data-cleared" || held->loss == "fenced"));
        for (auto* page : {&one, &two}) {
            const auto again = page->locks.count({});
            scene.until([&] { return again->ended; });
            CHECK((again->granted && !page->cut_off));
        }
        CHECK(scene.judge.failures == Failures{});
        held->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("cleared: an id that another script overwrote is restored, also while a tab opens") {
    ClearedScene scene(1);
    auto& one = scene.open_watched();
    const auto held = one.locks.hold();
    scene.origin.run();
    REQUIRE(held->granted);
    const auto& rows = scene.origin.database().rows(Store::meta);
    const auto id = rows.at("database").text;
    scene.origin.database().overwrite(Store::meta, "database", lab::StoredValue{"no id"});
    auto& two = scene.open_watched();
    scene.origin.run();
    CHECK(scene.origin.database().rows(Store::meta).at("database").text == id);
    CHECK(one.losses == 0);
    CHECK(two.losses == 0);
    CHECK(held->loss.empty());
    held->let_go.complete({});
    scene.origin.run();
}

TEST_CASE("cleared: tabs with another lock manager than new tabs leave the locks to new tabs") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        ClearedScene scene(seed);
        auto& holder = scene.open_watched();
        auto& waiter = scene.open_watched();
        const auto held = holder.locks.hold();
        scene.until([&] { return held->granted; });
        const auto waiting = waiter.locks.hold();
        scene.steps(scene.random.below(60));
        scene.judge.lenient = true;  // a new tab may be granted the lock before the old one learns
        scene.clear_with_new_locks();
        scene.steps(scene.random.below(60));
        auto& fresh = scene.open_watched();
        const auto anew = fresh.locks.hold();
        // It is refused, or it was granted when the first tab noticed the loss, and is lost, too.
        const auto over = [&] { return waiting->ended || !waiting->loss.empty(); };
        scene.until([&] { return anew->granted && !held->loss.empty() && over(); });
        CHECK(held->loss == "site-data-cleared");
        CHECK((waiting->error == ErrorCode::unavailable || waiting->granted));
        scene.origin.run();
        CHECK((holder.cut_off && waiter.cut_off && !fresh.cut_off));
        for (auto* page : {&holder, &waiter}) {
            const auto refused = page->locks.count({.if_available = seed % 2 == 0});
            scene.until([&] { return refused->ended; });
            CHECK(refused->error == ErrorCode::unavailable);
        }
        CHECK(anew->loss.empty());
        for (const auto& one : {held, waiting, anew}) one->let_go.complete({});
        scene.origin.run();
    }
}

TEST_CASE("cleared: a tab that first locks after the clearing learns that it is cut off") {
    ClearedScene scene(1);
    auto& tab = scene.origin.open_tab();
    tab.post([&] { static_cast<void>(tab.database().open()); });
    scene.origin.run();
    scene.clear_with_new_locks();
    auto& late = tab.run<WatchedPage>(tab, scene.judge, scene.last_request);
    scene.origin.run();
    CHECK(late.cut_off);
    const auto refused = late.locks.count({});
    scene.until([&] { return refused->ended; });
    CHECK(refused->error == ErrorCode::unavailable);
}

TEST_CASE("cleared: a tab without an event learns of the loss by a message of another tab") {
    ClearedScene scene(1);
    auto& one = scene.open_watched();
    scene.origin.run();
    auto& two_tab = scene.origin.open_tab();
    auto& two = two_tab.run<WatchedPage>(two_tab, scene.judge, scene.last_request);
    const auto held = two.locks.hold({.unfenced = true});
    scene.origin.run();
    two_tab.database().close();  // no event of a connection reaches it
    scene.origin.run();
    scene.origin.clear_site_data();
    scene.origin.run();
    CHECK((one.losses == 1 && two.losses == 1));
    CHECK(held->loss == "site-data-cleared");
    held->let_go.complete({});
}

TEST_CASE("cleared: no number and no right is given again, and cut off tabs get no others") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        ClearedScene scene(seed);
        const bool new_locks = seed % 2 != 0;
        auto& old = scene.open_watched();
        std::vector<std::int64_t> numbers;
        std::int64_t taken = 0;
        int let_through = 0;
        int refused = 0;
        const auto use = [&](WatchedPage& page) -> Task<void> {
            for (int i = 0; i < 3; ++i) {
                auto range = co_await attempt(page.limits.sequence("s", {.block = 10}).reserve(1));
                if (range) numbers.push_back(range.value().first);
                auto spent = co_await attempt(page.limits.budget("b", 5).take(1));
                if (spent && spent.value()) ++taken;
                auto passed = co_await attempt(page.limits.rate_limit("r", 4, hour_ms).try_take());
                if (passed && passed.value()) ++let_through;
                for (const bool failed : {!range, !spent, !passed}) {
                    if (failed) ++refused;
                }
            }
        };
        old.locks.scope().spawn(use(old));
        scene.origin.run();
        REQUIRE(refused == 0);
        if (new_locks) {
            scene.clear_with_new_locks();
        } else {
            scene.origin.clear_site_data();
        }
        // The numbers go on above the microseconds since 1970.
        scene.origin.clock().jump(1'000);
        scene.until([&] { return old.losses == 1 && (old.cut_off || !new_locks); });
        auto& fresh = scene.open_watched();
        fresh.locks.scope().spawn(use(fresh));
        old.locks.scope().spawn(use(old));
        scene.origin.run();
        CHECK(old.cut_off == new_locks);
        CHECK(refused == (new_locks ? 9 : 0));
        CHECK(taken <= 5);
        CHECK(let_through <= 4);
        std::ranges::sort(numbers);
        CHECK(std::ranges::adjacent_find(numbers) == numbers.end());
    }
}

TEST_CASE("cleared: a tab that begins a sequence anew goes on above what a frozen tab was given") {
    ClearedScene scene(1);
    auto& old_tab = scene.origin.open_tab();
    auto& old = old_tab.run<WatchedPage>(old_tab, scene.judge, scene.last_request);
    const auto first_number = [&](WatchedPage& page, std::int64_t block) {
        std::int64_t number = 0;
        page.locks.scope().spawn([](WatchedPage& in, std::int64_t reserves,
                                    std::int64_t& first) -> Task<void> {
            auto range = co_await attempt(in.limits.sequence("s", {.block = reserves}).reserve(1));
            if (range) first = range.value().first;
        }(page, block, number));
        scene.origin.run();
        return number;
    };
    REQUIRE(first_number(old, 1'000) == 1);
    scene.origin.freeze(old_tab);
    scene.clear_with_new_locks();
    auto& fresh = scene.open_watched();
    CHECK(first_number(fresh, 1) == 1);  // nothing shows that there was a sequence
    scene.origin.thaw(old_tab);
    scene.origin.run();
    CHECK(first_number(fresh, 1) == 1'001);
}

}  // namespace tabacus::test
