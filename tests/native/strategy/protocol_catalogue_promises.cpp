// Every strategy of the catalogue keeps its guarantee, and loses increments where its guarantee
// declares that it may.
#include <catch2/catch_test_macros.hpp>

#include "protocol_catalogue.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using lab::StorageModel;

constexpr std::array models{StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached};

Losses losses_of(Strategy strategy) {
    CatalogueScene scene({strategy}, StorageModel::mutexed, 1);
    return scene.open().page->counter().guarantee().losses;
}

/// Whether the final value is below the acknowledged sum, or above the attempted one.
struct Outcome {
    bool lost = false;
    bool exceeded = false;
};
/// Lets three tabs count at once, and calls `spoil` at a random moment.
Outcome compete(
    Strategy strategy, StorageModel model, std::uint64_t seed,
    const std::function<void(CatalogueScene&, const CatalogueScene::Member&)>& spoil = nullptr) {
    CatalogueScene scene({strategy}, model, seed);
    for (int i = 0; i < 3; ++i) scene.count(scene.open(), 3);
    if (spoil) {
        scene.steps(scene.origin.random().below(120));
        spoil(scene, scene.members[seed % 3]);
    }
    const auto value = scene.settled();
    return {value<scene.acknowledged(), value> scene.attempted()};
}

void check_promise(
    Strategy strategy, FaultClass fault,
    const std::function<void(CatalogueScene&, const CatalogueScene::Member&)>& spoil) {
    const auto losses = losses_of(strategy);
    for (const auto model : models) {
        for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
            CAPTURE(strategy_name(strategy), static_cast<int>(model), seed);
            const auto outcome = compete(strategy, model, seed, spoil);
            if (!losses.may_lose(model, fault)) CHECK(!outcome.lost);
            if (!losses.may_exceed(model, fault)) CHECK(!outcome.exceeded);
        }
    }
}

}  // namespace

TEST_CASE("every strategy counts exactly when one adds after another", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        for (const auto model : models) {
            CAPTURE(strategy_name(strategy), static_cast<int>(model));
            CatalogueScene scene({strategy}, model, 7);
            const auto first = scene.open();
            const auto second = scene.open();
            std::int64_t sum = 0;
            for (const std::int64_t n : {1, 41, -2, 0, -50, 1000}) {
                for (const auto& member : {first, second}) {
                    scene.count(member, 1, n);
                    scene.origin.run();
                    sum += n;
                    // After this time every threshold has passed, and values read before are stale.
                    scene.origin.clock().jump(120'000);
                    CHECK(scene.read(first) == sum);
                    CHECK(scene.read(second) == sum);
                    CHECK(second.page->counter().value() == sum);
                }
            }
            CHECK(scene.settled() == sum);
            CHECK(first.page->errors.empty());
            CHECK(first.page->notices.empty());
        }
    }
}

TEST_CASE("every strategy refuses an add that leaves the exact integers, and changes nothing",
          "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        CAPTURE(strategy_name(strategy));
        CatalogueScene scene({strategy}, StorageModel::cached, 3);
        const auto member = scene.open();
        scene.count(member, 1, value_max);
        scene.origin.run();
        scene.count(member, 1, 1);
        scene.origin.run();
        CHECK(member.page->errors == std::vector{ErrorCode::out_of_range});
        CHECK(scene.settled() == value_max);
        scene.count(member, 2, -value_max);
        scene.origin.run();
        scene.count(member, 1, -1);
        scene.origin.run();
        CHECK(member.page->errors.size() == 2);
        CHECK(scene.settled() == -value_max);
    }
}

TEST_CASE("every strategy keeps its promises while tabs only compete", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::none, nullptr);
    }
}

TEST_CASE("every strategy keeps its promises when a tab is killed", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::kill,
                      [](CatalogueScene& scene, const CatalogueScene::Member& member) {
                          scene.origin.kill(*member.tab);
                      });
    }
}

TEST_CASE("every strategy keeps its promises when a tab is frozen for an hour", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::freeze,
                      [](CatalogueScene& scene, const CatalogueScene::Member& member) {
                          scene.origin.freeze(*member.tab);
                          scene.steps(scene.origin.random().below(400));
                          scene.origin.clock().jump(3'600'000);
                          scene.origin.thaw(*member.tab);
                      });
    }
}

TEST_CASE("every strategy keeps its promises when a page comes back", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::bfcache,
                      [](CatalogueScene& scene, const CatalogueScene::Member& member) {
                          const bool kept = scene.origin.page_hide(*member.tab);
                          scene.steps(scene.origin.random().below(400));
                          if (kept) scene.origin.page_show(*member.tab);
                      });
    }
}

TEST_CASE("every strategy keeps its promises when a connection is closed", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::connection_closed,
                      [](CatalogueScene& scene, const CatalogueScene::Member& member) {
                          scene.origin.close_connection(*member.tab);
                      });
    }
}

TEST_CASE("every strategy keeps its promises when a store is full", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::quota,
                      [](CatalogueScene& scene, const CatalogueScene::Member&) {
                          scene.origin.storage().set_quota(0);
                          scene.origin.database().set_quota(0);
                          scene.steps(200);
                          scene.origin.storage().set_quota(std::nullopt);
                          scene.origin.database().set_quota(std::nullopt);
                      });
    }
}

TEST_CASE("every strategy keeps its promises when the site's data is cleared", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::storage_cleared,
                      [](CatalogueScene& scene, const CatalogueScene::Member&) {
                          scene.origin.clear_site_data();
                      });
    }
}

TEST_CASE("increments that a guarantee declares may be lost to competing tabs are indeed lost",
          "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        const auto losses = losses_of(strategy);
        for (const auto model : models) {
            if (!losses.may_lose(model, FaultClass::none)) continue;
            CAPTURE(strategy_name(strategy), static_cast<int>(model));
            bool lost = false;
            for (std::uint64_t seed = 0; seed < 20 * few_seeds && !lost; ++seed) {
                lost = compete(strategy, model, seed).lost;
            }
            CHECK(lost);
        }
    }
}

TEST_CASE("increments that a process that dies may lose are indeed lost", "[catalogue]") {
    bool lost = false;
    for (std::uint64_t seed = 0; seed < 20 * few_seeds && !lost; ++seed) {
        lost = compete(Strategy::log, StorageModel::cached, seed,
                       [](CatalogueScene& scene, const CatalogueScene::Member& member) {
                           scene.origin.kill(*member.tab);
                       })
                   .lost;
    }
    CHECK(lost);
}

TEST_CASE("lamport is exact when every tab is faster than its delay and sees writes at once",
          "[catalogue]") {
    for (std::uint64_t seed = 0; seed < 10 * few_seeds; ++seed) {
        CAPTURE(seed);
        CatalogueScene scene(CounterOptions{Strategy::lamport}, StorageModel::interleaved, seed,
                             std::make_unique<TimeLastChooser>(seed));
        for (int i = 0; i < 3; ++i) scene.count(scene.open(), 3);
        CHECK(scene.settled() == 9);
    }
}

}  // namespace tabacus::test
