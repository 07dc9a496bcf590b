// Requests for several locks: a cycle over tabs ends in a DeadlockError, and lockAll() takes all locks or
// none.
#include <catch2/catch_test_macros.hpp>
#include <map>

#include "lock_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

struct Nested {
    bool ended = false;
    std::optional<ErrorCode> error;
    std::string message;
};

/// Takes the locks `names` one within the other, and holds each for a moment before the next.
Task<void> nest(LockPage& page, std::vector<std::string> names, std::shared_ptr<Nested> nested,
                bool steal) {
    std::vector<Held> held;
    for (const auto& name : names) {
        LockOptions options{.steal = steal && held.empty(), .label = "takes " + names.front()};
        if (!held.empty()) options.within = held.back().grant();
        auto taken = co_await attempt(page.table().acquire(name, std::move(options)));
        if (!taken) {
            nested->error = taken.error().code();
            nested->message = taken.error().what();
            break;
        }
        held.push_back(std::move(taken.value()));
        co_await page.world().clock().sleep(1);
    }
    held.clear();
    nested->ended = true;
}

std::shared_ptr<Nested> start_nested(const LockScene::Member& member,
                                     std::vector<std::string> names, bool steal = false) {
    auto nested = std::make_shared<Nested>();
    member.page->scope().spawn(nest(*member.page, std::move(names), nested, steal));
    return nested;
}

}  // namespace

TEST_CASE("locks: a cycle over tabs ends in a DeadlockError for exactly one of them") {
    std::map<int, int> cycles;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        // In every third run the last two requests come from one tab.
        const auto& third = scene.members[seed % 3 == 0 ? 1 : 2];
        const std::vector all{start_nested(scene.members[0], {"a", "b"}),
                              start_nested(scene.members[1], {"b", "c"}),
                              start_nested(third, {"c", "a"})};
        scene.origin.run();
        int victims = 0;
        for (const auto& nested : all) {
            REQUIRE(nested->ended);
            if (!nested->error) continue;
            ++victims;
            CHECK(*nested->error == ErrorCode::deadlock);
            CHECK(nested->message.find("'takes a' waits for 'b'") != std::string::npos);
        }
        CHECK(victims <= 1);
        ++cycles[victims];
        CHECK(scene.nothing_left());
    }
    CHECK(cycles[1] > static_cast<int>(seeds) / 4);
}

TEST_CASE("locks: a cycle through a stolen lock ends in a DeadlockError, too") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed), std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 2; ++i) scene.open();
        const std::vector all{start_nested(scene.members[0], {"a", "b"}, true),
                              start_nested(scene.members[1], {"b", "a"}, seed % 2 == 0)};
        scene.origin.run();
        REQUIRE((all[0]->ended && all[1]->ended));
        CHECK(all[0]->error.has_value() != all[1]->error.has_value());
        for (const auto& nested : all) {
            if (nested->error) CHECK(*nested->error == ErrorCode::deadlock);
        }
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("locks: without a cycle no request ends in a DeadlockError") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        for (int i = 0; i < 3; ++i) scene.open();
        std::vector<std::shared_ptr<Nested>> all;
        for (int i = 0; i < 6; ++i) {
            all.push_back(start_nested(scene.members[scene.random.below(3)], {"a", "b", "c"}));
            scene.steps(scene.random.below(30));
        }
        scene.origin.run();
        for (const auto& nested : all) {
            REQUIRE(nested->ended);
            CHECK_FALSE(nested->error.has_value());
        }
    }
}

TEST_CASE("locks: lockAll() takes all locks or none, in one order, and never deadlocks") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        int ended = 0;
        int granted = 0;
        for (int i = 0; i < 3; ++i) scene.open();
        for (int i = 0; i < 6; ++i) {
            std::vector<std::string> names{"a", "b", "c"};
            std::swap(names[scene.random.below(3)], names[scene.random.below(3)]);
            LockOptions options;
            if (i == 5) options.timeout_ms = 2;
            run_in(
                scene.members[static_cast<std::size_t>(i % 3)].page->scope(),
                [](LockPage& page, std::vector<std::string> all, LockOptions asked,
                   int& count) -> Task<void> {
                    const auto held = co_await page.table().acquire_all(all, std::move(asked));
                    CHECK(held.size() == 3);
                    ++count;
                    co_await page.world().clock().sleep(1);
                }(*scene.members[static_cast<std::size_t>(i % 3)].page, names, options, granted),
                [&] { ++ended; },
                [&](const Failure& failure) {
                    ++ended;
                    CHECK(error_of(failure).code() == ErrorCode::timed_out);
                });
        }
        scene.origin.run();
        CHECK(ended == 6);
        CHECK(granted >= 5);
        CHECK(scene.nothing_left());
    }
}

TEST_CASE("locks: a wall clock that is set forward does not end the timeout of lockAll()") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto taker = scene.open();
        const auto other = scene.open();
        const auto first = other.page->hold({}, "a");
        const auto second = other.page->hold({}, "b");
        scene.until([&] { return first->granted && second->granted; });
        bool taken = false;
        std::optional<ErrorCode> error;
        run_in(
            taker.page->scope(),
            [](LockPage& page) -> Task<void> {
                co_await page.table().acquire_all({"a", "b"}, {.timeout_ms = 600'000});
            }(*taker.page),
            [&] { taken = true; },
            [&](const Failure& failure) { error = error_of(failure).code(); });
        scene.until([&] { return scene.origin.locks().snapshot().pending.size() == 1; });
        scene.origin.jump_wall_clock(3'600'000);
        first->let_go.complete({});
        scene.steps(100);
        second->let_go.complete({});
        scene.origin.run();
        CHECK(taken);
        CHECK_FALSE(error);
    }
}

TEST_CASE(
    "locks: lockAll() fails and holds nothing if it loses one lock while it waits for the next") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockScene scene(seed, model_of_seed(seed));
        const auto taker = scene.open();
        const auto other = scene.open();
        const auto waited_for = other.page->hold({}, "b");
        scene.until([&] { return waited_for->granted; });
        std::optional<ErrorCode> error;
        run_in(
            taker.page->scope(),
            [](LockPage& page) -> Task<void> {
                co_await page.table().acquire_all({"a", "b"}, {});
            }(*taker.page),
            [] {}, [&](const Failure& failure) { error = error_of(failure).code(); });
        scene.until([&] { return scene.origin.locks().snapshot().pending.size() == 1; });
        LockPage::RequestPtr stealer;
        if (seed % 2 == 0) {
            stealer = other.page->hold({.steal = true}, "a");
        } else {
            scene.origin.freeze(*taker.tab);
            scene.origin.thaw(*taker.tab);
        }
        scene.until([&] { return error.has_value(); });
        CHECK(error == ErrorCode::lock_lost);
        CHECK_FALSE(waited_for->ended);
        if (stealer) stealer->let_go.complete({});
        waited_for->let_go.complete({});
        scene.origin.run();
        CHECK(scene.nothing_left());
    }
}

}  // namespace tabacus::test
