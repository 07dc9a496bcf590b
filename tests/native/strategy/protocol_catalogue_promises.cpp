// Every strategy of the catalogue keeps its guarantee, and loses where its guarantee allows it.
#include <catch2/catch_test_macros.hpp>

#include "protocol_catalogue.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using lab::StorageModel;

constexpr std::array models{StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached};

Losses losses_of(Strategy strategy) {
    Hall hall({strategy}, StorageModel::mutexed, 1);
    return hall.open().page->counter().guarantee().losses;
}

/// Three tabs count at once; `spoil` does its worst, somewhere in the middle.
struct Outcome {
    bool lost = false;
    bool exceeded = false;
};
Outcome compete(Strategy strategy, StorageModel model, std::uint64_t seed,
                const std::function<void(Hall&, const Hall::Seat&)>& spoil = nullptr) {
    Hall hall({strategy}, model, seed);
    for (int i = 0; i < 3; ++i) hall.count(hall.open(), 3);
    if (spoil) {
        hall.steps(hall.origin.random().below(120));
        spoil(hall, hall.seats[seed % 3]);
    }
    const auto value = hall.settled();
    return {value<hall.acknowledged(), value> hall.attempted()};
}

void check_promise(Strategy strategy, FaultClass fault,
                   const std::function<void(Hall&, const Hall::Seat&)>& spoil) {
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
            Hall hall({strategy}, model, 7);
            const auto first = hall.open();
            const auto second = hall.open();
            std::int64_t sum = 0;
            for (const std::int64_t n : {1, 41, -2, 0, -50, 1000}) {
                for (const auto& seat : {first, second}) {
                    hall.count(seat, 1, n);
                    hall.origin.run();
                    sum += n;
                    // Read later than any threshold: what was read before is stale by then.
                    hall.origin.clock().jump(120'000);
                    CHECK(hall.read(first) == sum);
                    CHECK(hall.read(second) == sum);
                    CHECK(second.page->counter().value() == sum);
                }
            }
            CHECK(hall.settled() == sum);
            CHECK(first.page->errors.empty());
            CHECK(first.page->notices.empty());
        }
    }
}

TEST_CASE("every strategy refuses to leave the exact integers, and changes nothing",
          "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        CAPTURE(strategy_name(strategy));
        Hall hall({strategy}, StorageModel::cached, 3);
        const auto seat = hall.open();
        hall.count(seat, 1, value_max);
        hall.origin.run();
        hall.count(seat, 1, 1);
        hall.origin.run();
        CHECK(seat.page->errors == std::vector{ErrorCode::out_of_range});
        CHECK(hall.settled() == value_max);
        hall.count(seat, 2, -value_max);
        hall.origin.run();
        hall.count(seat, 1, -1);
        hall.origin.run();
        CHECK(seat.page->errors.size() == 2);
        CHECK(hall.settled() == -value_max);
    }
}

TEST_CASE("what a strategy promises it keeps while tabs only compete", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::none, nullptr);
    }
}

TEST_CASE("what a strategy promises it keeps when a tab is killed", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::kill,
                      [](Hall& hall, const Hall::Seat& seat) { hall.origin.kill(*seat.tab); });
    }
}

TEST_CASE("what a strategy promises it keeps when a tab is frozen for an hour", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::freeze, [](Hall& hall, const Hall::Seat& seat) {
            hall.origin.freeze(*seat.tab);
            hall.steps(hall.origin.random().below(400));
            hall.origin.clock().jump(3'600'000);
            hall.origin.thaw(*seat.tab);
        });
    }
}

TEST_CASE("what a strategy promises it keeps when a page comes back", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::bfcache, [](Hall& hall, const Hall::Seat& seat) {
            const bool kept = hall.origin.page_hide(*seat.tab);
            hall.steps(hall.origin.random().below(400));
            if (kept) hall.origin.page_show(*seat.tab);
        });
    }
}

TEST_CASE("what a strategy promises it keeps when a connection is closed", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(
            strategy, FaultClass::connection_closed,
            [](Hall& hall, const Hall::Seat& seat) { hall.origin.close_connection(*seat.tab); });
    }
}

TEST_CASE("what a strategy promises it keeps when a store is full", "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::quota, [](Hall& hall, const Hall::Seat&) {
            hall.origin.storage().set_quota(0);
            hall.origin.database().set_quota(0);
            hall.steps(200);
            hall.origin.storage().set_quota(std::nullopt);
            hall.origin.database().set_quota(std::nullopt);
        });
    }
}

TEST_CASE("nothing is counted twice when the site's data is cleared, where that is promised",
          "[catalogue]") {
    for (const auto strategy : all_strategies()) {
        check_promise(strategy, FaultClass::storage_cleared,
                      [](Hall& hall, const Hall::Seat&) { hall.origin.clear_site_data(); });
    }
}

TEST_CASE("what a guarantee declares lost to competing tabs is seen to be lost", "[catalogue]") {
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

TEST_CASE("what a process that dies may lose is seen to be lost", "[catalogue]") {
    bool lost = false;
    for (std::uint64_t seed = 0; seed < 20 * few_seeds && !lost; ++seed) {
        lost = compete(Strategy::log, StorageModel::cached, seed,
                       [](Hall& hall, const Hall::Seat& seat) { hall.origin.kill(*seat.tab); })
                   .lost;
    }
    CHECK(lost);
}

TEST_CASE("lamport is exact when every tab is faster than its delay and sees writes at once",
          "[catalogue]") {
    for (std::uint64_t seed = 0; seed < 10 * few_seeds; ++seed) {
        CAPTURE(seed);
        Hall hall(CounterOptions{Strategy::lamport}, StorageModel::interleaved, seed,
                  std::make_unique<PunctualChooser>(seed));
        for (int i = 0; i < 3; ++i) hall.count(hall.open(), 3);
        CHECK(hall.settled() == 9);
    }
}

}  // namespace tabacus::test
