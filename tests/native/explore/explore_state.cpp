// Checks the hashes of states of counters, by equal_states.hpp.
#include <catch2/catch_test_macros.hpp>

#include "equal_states.hpp"
#include "lab/explore/counting_scenario.hpp"
#include "lab/explore/scenario.hpp"

namespace tabacus::lab::test {
namespace {

/// Returns a scenario with random parameters, so that its runs differ in many ways.
Scenario scenario_of(std::string_view strategy, const Faults& faults, SeededRandom& random) {
    const CountingScenario what{.tabs = random.coin() ? 2U : 3U,
                                .adds = random.coin() ? 1U : 2U,
                                .flush_each = random.coin(),
                                .all_read = random.coin(),
                                .pause_ms = random.coin() ? 30.0 : 0,
                                .locks_bar_cache = random.coin()};
    return {.origin = {1, static_cast<StorageModel>(random.below(3))},
            .faults = faults,
            .faults_max = random.coin() ? 1U : 2U,
            .workload = counting_workload(hosts_of(strategy), what)};
}

}  // namespace

TEST_CASE("from equal states the same steps lead to equal states and to the same ends") {
    std::uint64_t other_ways = 0;
    SeededRandom random(1);
    for (const auto strategy : counting_strategies()) {
        for (std::size_t fault = 0; fault <= fault_count; ++fault) {
            CAPTURE(strategy, fault);
            const auto bits = fault == fault_count ? (1U << fault_count) - 1 : 1U << fault;
            const auto scenario = scenario_of(strategy, Faults::of_bits(bits), random);
            const auto seen = seen_by_neighbours(program_of(scenario), random, 80);
            CHECK(seen.differs == 0);
            other_ways += seen.other_ways;
        }
    }
    CHECK(other_ways > 50'000);
}

}  // namespace tabacus::lab::test
