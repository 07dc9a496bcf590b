// Faults planted in strategies over tabs. The explorer must find each, some of them only with three
// tabs.
#include <catch2/catch_test_macros.hpp>

#include "lab/explore/explorer.hpp"
#include "planted/planted_strategies.hpp"

namespace tabacus::lab::test {
namespace {

using tabacus::test::planted_hosts;
using tabacus::test::StrategyFault;

struct Trial {
    StrategyFault fault{};
    std::uint32_t tabs = 2;
    std::uint32_t adds = 1;
    Faults faults{};  // NOLINT(readability-redundant-member-init): so that they may be left out
};

ExploreReport tried(const Trial& trial) {
    Exploration exploration({.setup = {.strategy = "naive",
                                       .model = StorageModel::interleaved,
                                       .counting = {.tabs = trial.tabs, .adds = trial.adds},
                                       .faults = trial.faults,
                                       .faults_max = trial.faults.empty() ? 0U : 1U},
                             .schedules_max = 1'000'000,
                             .seeds = 0,
                             .make = planted_hosts(trial.fault)});
    while (exploration.explore(10'000)) {
    }
    auto report = exploration.report();
    UNSCOPED_INFO(report.schedules << " schedules, " << report.bound << report.failure);
    return report;
}

void check_proved(const Trial& trial) { CHECK(tried(trial).verdict == Verdict::proved); }

void check_killed(const Trial& trial) {
    const auto report = tried(trial);
    CHECK(report.verdict == Verdict::broken);
    CHECK(report.failure.find("an update is") == 0);
}

void check_killed_by_three_alone(StrategyFault fault) {
    check_proved({.fault = fault, .tabs = 2});
    check_killed({.fault = fault, .tabs = 3});
}

}  // namespace

TEST_CASE("planted: the strategies without a fault are proved", "[planted]") {
    for (const auto fault : {StrategyFault::none_locked, StrategyFault::none_transaction,
                             StrategyFault::none_rows, StrategyFault::none_optimistic}) {
        CAPTURE(static_cast<int>(fault));
        check_proved({.fault = fault, .tabs = 2});
        check_proved({.fault = fault, .tabs = 2, .adds = 1, .faults = {Fault::kill}});
    }
    for (const auto fault : {StrategyFault::none_transaction, StrategyFault::none_rows}) {
        check_proved({.fault = fault, .tabs = 3});
    }
    check_proved({.fault = StrategyFault::none_transaction,
                  .tabs = 2,
                  .adds = 2,
                  .faults = {Fault::close_connection}});
}

TEST_CASE("planted: two tabs show these faults in strategies", "[planted]") {
    check_killed({.fault = StrategyFault::shares_the_lock});
    check_killed({.fault = StrategyFault::lets_go_early});
    check_killed({.fault = StrategyFault::goes_on_without});
    check_killed({.fault = StrategyFault::steals_the_lock});
    check_killed({.fault = StrategyFault::reads_in_another_transaction});
    check_killed({.fault = StrategyFault::caches_the_value, .adds = 2});
    check_killed({.fault = StrategyFault::counts_rows_for_its_own});
    check_killed({.fault = StrategyFault::version_unchecked});
    check_killed({.fault = StrategyFault::acknowledges_before_commit, .faults = {Fault::kill}});
    check_killed(
        {.fault = StrategyFault::repeats_unknown_commit, .faults = {Fault::close_connection}});
}

TEST_CASE("planted: only three tabs show these faults in strategies", "[planted]") {
    check_killed_by_three_alone(StrategyFault::pairwise_lock);
    check_killed_by_three_alone(StrategyFault::only_one_other);
    check_killed_by_three_alone(StrategyFault::tries_twice);
}

}  // namespace tabacus::lab::test
