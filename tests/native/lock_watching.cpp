// Who watches a lock: it holds up nobody, and hears of what happened while it slept.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"
#include "tabacus/once.hpp"

namespace tabacus::test {
namespace {

/// Longer than a look at who holds is away (lock_query.cpp).
constexpr double look_ms = 3'000;

/// What a tab asks about a lock, while the page may stop at any moment.
struct Asked {
    int ended = 0;
    std::set<ErrorCode> errors;
};

template <typename Result>
void ask(const LockScene::Member& member, Asked& asked, Task<Result> question) {
    member.page->scope().spawn([](Asked& of, Task<Result> task) -> Task<void> {
        const auto outcome = co_await attempt(std::move(task));
        ++of.ended;
        if (!outcome) of.errors.insert(outcome.error().code());
    }(asked, std::move(question)));
}

/// Frozen, or in the back/forward cache. False: it was not kept.
bool stop(LockScene& scene, const LockScene::Member& member, bool cached) {
    if (cached) return scene.origin.page_hide(*member.tab);
    scene.origin.freeze(*member.tab);
    return true;
}

void resume(LockScene& scene, const LockScene::Member& member, bool cached) {
    if (cached) {
        scene.origin.page_show(*member.tab);
    } else {
        scene.origin.thaw(*member.tab);
    }
}

}  // namespace

TEST_CASE("lock: a tab that only watches, and hangs, keeps nobody out of it") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<PatientChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        const auto holder = scene.members[0].page->hold();
        scene.until([&] { return holder->granted; });
        const auto& watcher = scene.members[1];
        const auto watching = watcher.page->table().on_change("l", [] {});
        wait_ms(scene, *scene.members[0].page, seed % 2 == 0 ? look_ms : 1);
        CHECK(scene.origin.locks().snapshot().pending.empty());
        scene.origin.suspend(*watcher.tab);
        holder->let_go.complete({});
        const auto tried = scene.members[2].page->hold({.if_available = true});
        scene.until([&] { return tried->ended || tried->granted; });
        CHECK(tried->granted);
        tried->let_go.complete({});
        const auto next = scene.members[2].page->count({.timeout_ms = 100});
        scene.until([&] { return next->ended; });
        CHECK(next->granted);
    }
}

TEST_CASE("lock: who watches is told of a death soon, and of what happened while it slept") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<PatientChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        const bool cached = seed % 2 == 0;
        const auto& watcher = scene.members[1];
        int changes = 0;
        const auto watching = watcher.page->table().on_change("l", [&] { ++changes; });
        wait_ms(scene, *scene.members[0].page, 1);
        REQUIRE(stop(scene, watcher, cached));
        const auto holder = scene.members[2].page->hold();
        scene.until([&] { return holder->granted; });
        wait_ms(scene, *scene.members[0].page, look_ms);
        changes = 0;
        resume(scene, watcher, cached);
        wait_ms(scene, *scene.members[0].page, look_ms);
        CHECK(changes > 0);
        changes = 0;
        scene.origin.kill(*scene.members[2].tab);
        wait_ms(scene, *scene.members[0].page, look_ms);
        CHECK(changes > 0);
    }
}

TEST_CASE("lock: who watches is told of who begins to wait, in another tab and in its own") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<PatientChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        int changes = 0;
        const auto watching = scene.members[1].page->table().on_change("l", [&] { ++changes; });
        const auto holder = scene.members[seed % 4 / 2].page->hold();
        scene.until([&] { return holder->granted; });
        wait_ms(scene, *scene.members[0].page, look_ms);
        changes = 0;
        const auto waiter = scene.members[seed % 2 == 0 ? 1 : 2].page->hold();
        wait_ms(scene, *scene.members[0].page, 100);
        CHECK(changes == 1);
        holder->let_go.complete({});
        scene.until([&] { return waiter->granted; });
        waiter->let_go.complete({});
    }
}

TEST_CASE("lock: who asks about it is answered, also if its page stops meanwhile") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto& watcher = scene.open();
        scene.open();
        auto& table = watcher.page->table();
        Once once(*watcher.tab, table);
        Asked asked;
        ask(watcher, asked, table.query("l"));
        ask(watcher, asked, table.is_locked("l"));
        ask(watcher, asked, table.wait_for_unlock("l", std::nullopt, std::nullopt));
        Asked entered;
        ask(watcher, entered, once.enter("k", {}, {}));
        scene.steps(scene.random.below(40));
        const bool cached = seed % 2 == 0;
        if (!stop(scene, watcher, cached)) continue;
        scene.steps(scene.random.below(40));
        resume(scene, watcher, cached);
        scene.until([&] { return asked.ended == 3 && entered.ended == 1; });
        CHECK(asked.errors.empty());
        // Between the grant and the run it may lose the lock, as any holder does.
        entered.errors.erase(ErrorCode::lock_lost);
        CHECK(entered.errors.empty());
    }
}

}  // namespace tabacus::test
