// A tab's requests beside its own holders: who shares is let in, and ifAvailable waits for nobody.
// And who is seen to hold and to wait.
#include <catch2/catch_test_macros.hpp>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using Failures = std::vector<std::string>;

LockOptions shared(bool if_available = false) {
    return {.mode = LockMode::shared, .if_available = if_available};
}

}  // namespace

TEST_CASE("lock: a shared request is granted beside its tab's shared holder, however old that is") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto& mine = scene.members[0];
        std::vector held{mine.page->hold(shared())};
        scene.until([&] { return held.back()->granted; });
        if (seed % 2 == 0) {
            // Another tab also requests the lock, and is granted it.
            held.push_back(scene.members[1].page->hold(shared()));
            scene.until([&] { return held.back()->granted; });
        }
        wait_ms(scene, *mine.page, 200);
        held.push_back(mine.page->hold(shared()));
        scene.until([&] { return held.back()->ended || held.back()->granted; });
        REQUIRE(held.back()->granted);
        for (const auto& one : held) one->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: a shared request waits behind another tab's exclusive one, until that gives up") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto& mine = scene.members[0];
        const auto first = mine.page->hold(shared());
        scene.until([&] { return first->granted; });
        const AbortSignal signal;
        const auto writer = scene.members[1].page->hold({.signal = signal});
        scene.until([&] { return !scene.origin.locks().snapshot().pending.empty(); });
        wait_ms(scene, *mine.page, 100);
        const auto second = mine.page->hold(shared());
        wait_ms(scene, *mine.page, 300);
        REQUIRE(!second->granted);
        signal.abort();
        scene.until([&] { return second->granted; });
        CHECK(writer->error == ErrorCode::aborted);
        first->let_go.complete({});
        second->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lock: ifAvailable is answered beside its tab's holder, and behind waiters") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const auto& mine = scene.members[0];
        const bool mine_holds = seed % 2 == 0;
        const auto holder = scene.members[mine_holds ? 0 : 1].page->hold();
        scene.until([&] { return holder->granted; });
        std::vector<LockPage::RequestPtr> waiting;
        if (!mine_holds) waiting.push_back(mine.page->hold());
        scene.steps(scene.random.below(60));
        const auto asked = mine.page->hold({.if_available = true});
        const auto also = mine.page->hold(shared(true));
        scene.until([&] { return asked->ended && also->ended; });
        CHECK(asked->unavailable);
        CHECK(also->unavailable);
        holder->let_go.complete({});
        for (const auto& one : waiting) one->let_go.complete({});
        scene.origin.run();
        CHECK(scene.judge.failures == Failures{});
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("lease: every tab names all that is held and waits anywhere") {
    constexpr Platform without{.locks = false};
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.open(without);
        const auto& all = scene.members;
        const std::vector holders{all[0].page->hold({}, "a"), all[1].page->hold(shared(), "b")};
        scene.until([&] { return holders[0]->granted && holders[1]->granted; });
        const std::vector waiting{all[1].page->hold({}, "a"), all[2].page->hold(shared(), "a")};
        wait_ms(scene, *all[0].page, 1);
        for (const auto& member : all) {
            bool answered = false;
            run_in(
                member.page->scope(), member.page->table().names(),
                [&](const std::vector<std::string>& names) {
                    CHECK(names == std::vector<std::string>{"a", "b"});
                },
                [](const Failure&) { FAIL(); });
            run_in(
                member.page->scope(), member.page->table().query("a"),
                [&](const std::vector<LockRequestInfo>& infos) {
                    REQUIRE(infos.size() == 3);
                    CHECK(infos[0].held);
                    CHECK(infos[0].tab == all[0].page->table().tab());
                    CHECK_FALSE((infos[1].held || infos[2].held));
                    CHECK(infos[1].mode != infos[2].mode);
                    answered = true;
                },
                [](const Failure&) { FAIL(); });
            scene.until([&] { return answered; });
        }
        for (const auto& one : holders) one->let_go.complete({});
        for (const auto& one : waiting) one->let_go.complete({});
        scene.origin.run();
    }
}

}  // namespace tabacus::test
