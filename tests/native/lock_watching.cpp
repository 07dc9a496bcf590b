// Who watches a lock: it holds up nobody, and hears of what happened while it slept.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

/// Longer than a look at who holds is away (lock_query.cpp).
constexpr double look_ms = 3'000;

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

}  // namespace tabacus::test
