// The strategies under every schedule: what holds is proved up to a bound, what does not is broken.
#include <catch2/catch_test_macros.hpp>

#include "lab/explore/counting.hpp"
#include "lab/explore/search.hpp"

namespace tabacus::lab::test {
namespace {

struct Case {
    Strategy strategy = Strategy::naive;
    StorageModel model = StorageModel::mutexed;
    Counting counting{};
    Faults faults{};
    Bound bound{};
};

Scenario scenario_of(const Case& one) {
    return {.origin = {1, one.model},
            .faults = one.faults,
            .faults_max = one.faults.empty() ? 0U : 1U,
            .play = counting(hosts_of({one.strategy, Durability::relaxed}), one.counting)};
}

struct Verdict {
    bool proved;
    std::string complaint;
    Tally tally;
};

Verdict verdict_of(const Case& one) {
    Search search(program_of(scenario_of(one)), one.bound);
    search.explore(3'000'000);
    UNSCOPED_INFO("schedules " << search.tally().schedules << " asleep " << search.tally().asleep
                               << " cut " << search.tally().cut << " steps "
                               << search.tally().steps);
    return {search.exhausted(), search.failure() ? search.failure()->complaint : "",
            search.tally()};
}

}  // namespace

TEST_CASE("naive is exact where a turn is atomic, and loses updates elsewhere") {
    const auto exact = verdict_of({});
    CHECK(exact.proved);
    CHECK(exact.complaint.empty());
    for (const auto model : {StorageModel::interleaved, StorageModel::cached}) {
        const auto lost = verdict_of({.model = model});
        CHECK(lost.complaint.find("lost") != std::string::npos);
    }
}

TEST_CASE("dbg", "[.]") {
    for (auto strategy : {Strategy::naive, Strategy::locked, Strategy::transactional, Strategy::replicated})
        for (auto model : {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) 
            for (auto fault : {Faults{}, Faults{Fault::kill}}) {
            Case one{.strategy = strategy, .model = model, .counting = {2, 1}, .faults=fault};
    Search search(program_of(scenario_of(one)), one.bound);
    search.explore(20000);
    printf("%d model %d faults %d: schedules %lu asleep %lu cut %lu steps %lu %s %s\n",(int)strategy,(int)model,fault.bits(), search.tally().schedules, search.tally().asleep, search.tally().cut, search.tally().steps, search.exhausted()?"exhausted":"", search.failure()?search.failure()->complaint.c_str():"");
    fflush(stdout);
        }
}

}  // namespace tabacus::lab::test
