// The replicated counter among tabs that count, die, freeze and lose their slots, under seeded
// schedules.
#include <catch2/catch_test_macros.hpp>

#include "protocol_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

/// Every living tab reads `expected`, shows it, and so does a tab that comes later.
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
        // The first tab makes the database, the second one finds it.
        for (int value = 1; value <= 2; ++value) {
            const auto before = scene.origin.database().transactions();
            // Neither has a channel: a tab that receives news checks them against the store.
            const auto page = scene.ready(Platform{.channels = false});
            scene.add_and_flush(page);
            CHECK(page.page->counter().value() == value);
            scene.origin.run();
            CHECK(scene.origin.database().transactions() - before == 2);
        }
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

TEST_CASE("replicated: a tab killed at any moment loses nothing flushed, nothing counts twice") {
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
        // Never more than three open at once... unless the successor came before the dead one's
        // lock was released.
        CHECK(scene.row_count() <= 4);
        check_settled(scene, scene.judge.acknowledged().plus, scene.judge.attempted().plus);
    }
}

}  // namespace tabacus::test
