// A database that vanishes. Tabs notice it by the generation, report it, and recover its rows from
// memory and from the backup.
#include <catch2/catch_test_macros.hpp>

#include "protocol_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

bool any_loss_reported(const Scene& scene) {
    return std::any_of(scene.members.begin(), scene.members.end(), [](const auto& member) {
        return member.tab->alive() && !member.page->losses().empty();
    });
}

}  // namespace

TEST_CASE("lost database: living tabs bring back every increment that was flushed") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {.read_between = false});
        scene.steps(scene.random.below(300));
        const bool known = scene.judge.acknowledged().plus > 0;
        if (seed % 2 == 0) {
            scene.origin.lose_database();
        } else {
            scene.origin.clear_site_data();
        }
        scene.origin.run();
        const auto attempted = scene.judge.attempted().plus;
        for (const auto& member : scene.members) {
            CHECK(member.page->done);
            CHECK(scene.read(member) == attempted);
        }
        CHECK(scene.read(scene.ready()) == attempted);
        if (known && seed % 2 == 0) CHECK(any_loss_reported(scene));
    }
}

TEST_CASE("lost database: every tab that knew the former database is notified") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto first = scene.ready();
        const auto second = scene.ready();
        scene.add_and_flush(first, 3);
        scene.add_and_flush(second, 4);
        scene.origin.run();
        scene.origin.lose_database();
        scene.origin.run();
        for (const auto& member : {first, second}) {
            REQUIRE(member.page->losses().size() == 1);
            const auto loss = member.page->losses().front();
            CHECK_FALSE(loss.previous.empty());
            CHECK(loss.subject != loss.previous);
            CHECK(member.page->counter().value() == 7);
        }
    }
}

TEST_CASE("lost database: without any tab the backup alone brings back every increment") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), {.read_between = false});
        scene.origin.run();
        for (const auto& member : scene.members) scene.origin.kill(*member.tab);
        scene.origin.run();
        scene.origin.database().lose(seed % 2 == 0 ? "total" : "none");
        const auto late = scene.ready();
        CHECK(scene.read(late) == scene.judge.attempted().plus);
        scene.origin.run();
        REQUIRE(late.page->losses().size() == 1);
        CHECK(late.page->losses().front().recovered > 0);
        scene.add_and_flush(late);
        CHECK(scene.read(scene.ready()) == scene.judge.attempted().plus);
        // The loss is reported once: the next tab finds an intact database.
        const auto later = scene.ready();
        scene.add_and_flush(later);
        CHECK(later.page->losses().empty());
        // After a second loss the rows of both generations are recovered.
        scene.origin.run();
        scene.origin.lose_database();
        scene.origin.run();
        CHECK(scene.read(later) == scene.judge.attempted().plus);
    }
}

TEST_CASE("lost database: the browser's own report (dataLoss) is passed on") {
    Scene scene(1);
    const auto page = scene.ready();
    scene.add_and_flush(page);
    scene.origin.run();
    scene.origin.kill(*page.tab);
    scene.origin.run();
    scene.origin.clear_site_data();
    scene.origin.database().lose("total");
    const auto late = scene.ready();
    CHECK(scene.read(late) == 0);
    scene.origin.run();
    REQUIRE(late.page->losses().size() == 1);
    CHECK(late.page->losses().front().code == "data-loss");
}

TEST_CASE("crash of the browser: strictly flushed increments stay, and none counts twice") {
    for (std::uint64_t seed = 0; seed < 2 * seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, model_of(seed));
        const Plan plan{.durability = seed % 4 == 0 ? Durability::relaxed : Durability::strict};
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), plan);
        scene.steps(scene.random.below(400));
        scene.origin.crash();
        const auto acknowledged = scene.judge.acknowledged().plus;
        std::vector<Scene::Member> fresh;
        fresh.reserve(3);
        for (int i = 0; i < 3; ++i) fresh.push_back(scene.ready());
        for (const auto& member : fresh) scene.count(member, {.adds = 3, .read_between = false});
        scene.origin.run();
        const auto total = scene.read(scene.ready());
        if (plan.durability == Durability::strict) CHECK(total >= acknowledged + 9);
        CHECK(total <= scene.judge.attempted().plus);
        for (const auto& member : fresh) CHECK(scene.read(member) == total);
    }
}

TEST_CASE("crash of the browser: a backup newer than the database that is there does not count") {
    Scene scene(1);
    const auto page = scene.ready();
    scene.add_and_flush(page, 5);
    scene.origin.run();
    const auto [key, row] = *scene.origin.database().rows(Store::rows).begin();
    scene.origin.kill(*page.tab);
    scene.origin.run();
    scene.origin.database().overwrite(Store::rows, key, lab::StoredValue{"1;1;2;0"});
    const auto late = scene.ready();
    scene.add_and_flush(late);
    CHECK(scene.read(late) == 3);
    CHECK(scene.read(scene.ready()) == 3);
}

}  // namespace tabacus::test
