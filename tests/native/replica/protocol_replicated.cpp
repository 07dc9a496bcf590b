// The replicated counter in tabs that open, count and die, under seeded schedules.
#include <catch2/catch_test_macros.hpp>

#include "protocol_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

/// Checks that a new tab and every active tab read and show the same value, from `min` to `max`.
void check_settled(Scene& scene, std::int64_t min, std::int64_t max) {
    scene.origin.run();
    const auto total = scene.read(scene.ready());
    for (const auto& member : scene.members) {
        if (!member.tab->active()) continue;
        const auto value = scene.read(member);
        CHECK(value == member.page->counter().value());
        CHECK(value == total);
    }
    CHECK(total >= min);
    CHECK(total <= max);
    CHECK(scene.judge.failures() == std::vector<std::string>{});
}

}  // namespace

TEST_CASE("replicated: opening, one add and its flush take two transactions") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        // The first tab makes the database, and the second one finds it.
        for (int value = 1; value <= 2; ++value) {
            const auto before = scene.origin.database().transactions();
            // Neither tab has a channel, because a tab that receives news checks it against the
            // store.
            const auto page = scene.ready(Platform{.channels = false});
            scene.add_and_flush(page);
            CHECK(page.page->counter().value() == value);
            scene.origin.run();
            CHECK(scene.origin.database().transactions() - before == 2);
        }
    }
}

TEST_CASE("replicated: a tab that follows a counter late reads what it missed before") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const auto late = scene.open();
        late.page->open();
        scene.origin.run_until([&] { return late.page->opened; });
        late.page->counter();
        scene.origin.run();
        const auto writer = scene.ready();
        scene.add_and_flush(writer, 5);
        scene.origin.run();
        CHECK(late.page->counter().value() == 0);  // it receives nothing
        late.page->follow();
        if (seed % 2 == 1) writer.page->add(2);
        scene.origin.run();
        CHECK(late.page->counter().value() == (seed % 2 == 1 ? 7 : 5));
        scene.add_and_flush(writer, 10);
        scene.origin.run();
        CHECK(late.page->counter().value() == (seed % 2 == 1 ? 17 : 15));
    }
}

TEST_CASE("replicated: three tabs that count at once lose nothing") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {.decrements = seed % 2 == 1});
        scene.origin.run();
        for (const auto& member : scene.members) {
            CHECK(member.page->done);
            CHECK(member.page->errors == std::vector<ErrorCode>{});
            CHECK(member.page->notices.empty());
        }
        const auto sum = scene.judge.attempted();
        const auto acknowledged = scene.judge.acknowledged();
        CHECK(sum.plus == acknowledged.plus);
        CHECK(sum.minus == acknowledged.minus);
        for (const auto& member : scene.members) {
            CHECK(member.page->counter().value() == sum.plus - sum.minus);
        }
        CHECK(scene.row_count() <= 3);
        check_settled(scene, sum.plus - sum.minus, sum.plus - sum.minus);
    }
}

TEST_CASE("replicated: a tab killed at any moment loses nothing flushed and counts nothing twice") {
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {});
        scene.steps(scene.random.below(250));
        scene.origin.kill(*scene.members[seed % 3].tab);
        scene.steps(scene.random.below(60));
        scene.count(scene.open(), {});
        scene.origin.run();
        for (const auto& member : scene.members) {
            if (member.tab->alive()) CHECK(member.page->done);
        }
        // At most three tabs are open at once. But the new tab may take a fourth slot before the
        // dead tab's lock is released.
        CHECK(scene.row_count() <= 4);
        check_settled(scene, scene.judge.acknowledged().plus, scene.judge.attempted().plus);
    }
}

}  // namespace tabacus::test
