// The simple strategies keep what they promise, and lose what they declare that they may lose.
#include <catch2/catch_test_macros.hpp>

#include "replica/protocol_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

/// Returns how many acknowledged increments are missing after three tabs have counted.
std::int64_t lost(Strategy strategy, StorageModel model, std::uint64_t seed) {
    Scene scene(seed, model);
    for (int i = 0; i < 3; ++i) {
        scene.count(scene.open(), {.strategy = strategy, .adds = 5, .read_between = false});
    }
    scene.origin.run();
    std::optional<std::int64_t> value;
    Scope scope;
    auto& catalogue = scene.members.front().page->catalogue();
    run_in(
        scope, catalogue.counter("c", {strategy, Durability::relaxed}).read(),
        [&](std::int64_t read) { value = read; }, [](const std::exception_ptr&) {});
    scene.origin.run();
    REQUIRE(value);
    return scene.judge.acknowledged().plus - *value;
}

std::int64_t worst(Strategy strategy, StorageModel model) {
    std::int64_t worst = 0;
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        worst = std::max(worst, lost(strategy, model, seed));
    }
    return worst;
}

}  // namespace

TEST_CASE("naive loses increments wherever turns are not atomic") {
    CHECK(worst(Strategy::naive, StorageModel::mutexed) == 0);
    CHECK(worst(Strategy::naive, StorageModel::interleaved) > 0);
    CHECK(worst(Strategy::naive, StorageModel::cached) > 0);
}

TEST_CASE("naive notices that localStorage was cleared") {
    Scene scene(1, StorageModel::mutexed);
    for (int i = 0; i < 2; ++i) {
        scene.count(scene.open(), {.strategy = Strategy::naive, .adds = 1, .read_between = false});
    }
    scene.origin.run();
    auto& listener =
        scene.members.back().page->catalogue().counter("c", {Strategy::naive, Durability::relaxed});
    CHECK(listener.value() == 2);
    scene.origin.clear_storage(*scene.members.front().tab);
    scene.origin.run();
    CHECK(listener.value() == 0);
}

TEST_CASE("a lock around localStorage still loses increments where processes keep copies") {
    CHECK(worst(Strategy::locked, StorageModel::mutexed) == 0);
    CHECK(worst(Strategy::locked, StorageModel::interleaved) == 0);
    CHECK(worst(Strategy::locked, StorageModel::cached) > 0);
}

TEST_CASE("transactional never loses an increment, and every read is exact") {
    for (std::uint64_t seed = 0; seed < 3 * few_seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed, static_cast<StorageModel>(seed % 3));
        for (int i = 0; i < 3; ++i) {
            scene.count(scene.open(), {.strategy = Strategy::transactional});
        }
        scene.steps(scene.random.below(300));
        if (seed % 2 == 0) scene.origin.kill(*scene.members[seed % 3].tab);
        scene.origin.run();
        CHECK(scene.judge.failures() == std::vector<std::string>{});
        const auto row = scene.origin.database().rows(Store::counters).find("c");
        REQUIRE(row != scene.origin.database().rows(Store::counters).end());
        const auto stored = std::stoll(row->second.text);
        CHECK(stored >= scene.judge.acknowledged().plus);
        CHECK(stored <= scene.judge.attempted().plus);
    }
}

TEST_CASE("transactional reports a commit of unknown outcome as unknown") {
    bool reported = false;
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        Scene scene(seed);
        const auto member = scene.open();
        scene.count(member, {.strategy = Strategy::transactional, .read_between = false});
        scene.steps(scene.random.below(100));
        scene.origin.close_connection(*member.tab);
        scene.origin.run();
        CHECK(member.page->done);
        for (const auto code : member.page->errors) {
            CHECK((code == ErrorCode::unknown_commit || code == ErrorCode::store_failed));
            reported = reported || code == ErrorCode::unknown_commit;
        }
        const auto& rows = scene.origin.database().rows(Store::counters);
        const auto stored = rows.empty() ? 0 : std::stoll(rows.begin()->second.text);
        CHECK(stored >= scene.judge.acknowledged().plus);
        CHECK(stored <= scene.judge.attempted().plus);
    }
    CHECK(reported);
}

TEST_CASE("making a counter that the platform cannot support fails with a typed error") {
    Scene scene(1);
    const auto page = scene.ready({.storage = false, .database = false, .locks = false});
    for (const auto strategy : all_strategies()) {
        try {
            page.page->catalogue().counter("c", {strategy, Durability::relaxed});
            FAIL("the counter was made");
        } catch (const Error& error) {
            CHECK(error.code() == ErrorCode::unavailable);
        }
    }
}

}  // namespace tabacus::test
