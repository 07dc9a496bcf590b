// The matrix: what its cells consist of, and how they compare with what strategies declare.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

#include "lab/explore/sampling.hpp"
#include "lab/report/matrix.hpp"
#include "lab/report/report_text.hpp"
#include "planted/planted_strategies.hpp"

namespace tabacus::lab::test {
namespace {

const MatrixBound small{.work = 20'000,
                        .work_declared = 20'000,
                        .work_unbounded = 20'000,
                        .work_preemptions = 20'000,
                        .seeds = 50};

CellReport computed(const MatrixCell& cell) {
    CellExploration exploration(cell, small);
    while (exploration.explore(1'000)) {
    }
    return exploration.report();
}

}  // namespace

TEST_CASE("matrix: it has a cell for each strategy, model and fault") {
    const auto cells = matrix_cells();
    CHECK(cells.size() == counting_strategies().size() * 3 * (fault_count + 1));
    CHECK(cells.size() == 480);
}

TEST_CASE("matrix: a strategy that declares no loss is proved") {
    const auto report = computed({"naive", StorageModel::mutexed});
    CHECK(report.verdict() == Verdict::proved);
    CHECK(report.parts.size() == 2);
    CHECK_FALSE(report.contradicts());
    CHECK_FALSE(report.unfound());
}

TEST_CASE("matrix: a declared loss is found, and contradicts nothing") {
    const auto report = computed({"locked", StorageModel::cached});
    CHECK(report.verdict() == Verdict::broken);
    CHECK(report.found(Finding::lost));
    CHECK_FALSE(report.found(Finding::exceeded));
    CHECK_FALSE(report.contradicts());
}

TEST_CASE(
    "matrix: a declared loss that is not found is reported, and an undeclared one contradicts") {
    auto report = computed({"locked", StorageModel::cached});
    report.may_lose = false;
    CHECK(report.contradicts());
    report.may_lose = report.may_exceed = true;
    CHECK(report.unfound());
    CHECK_FALSE(report.contradicts());
    report.parts.front().finding = Finding::stuck;
    CHECK(report.contradicts());
}

// A tab that is destroyed in the middle of a transaction aborts it, and writes that to the trace.
// AddressSanitizer checks that the trace still exists then.
TEST_CASE("matrix: a failing run is traced until its last tab is gone") {
    const auto report = computed({"replicated", StorageModel::mutexed, Fault::corrupt});
    REQUIRE(report.parts.size() > 1);
    CHECK(std::ranges::any_of(report.parts,
                              [](const MatrixPart& part) { return !part.report.trace.empty(); }));
}

TEST_CASE("matrix: a crash of the browser costs what is declared") {
    const auto report = computed({"transactional", StorageModel::cached, Fault::browser_crash});
    CHECK(report.explored);
    CHECK(report.found(Finding::lost));
    CHECK(report.parts.front().report.trace.find("the browser dies") != std::string::npos);
    CHECK_FALSE(report.contradicts());
}

TEST_CASE("matrix: schedules exhausted without faults are not explored again with one") {
    const auto faultless = computed({"naive", StorageModel::mutexed});
    const MatrixCell cell{"naive", StorageModel::mutexed, Fault::close_connection};
    CellExploration again(cell, small, &faultless);
    while (again.explore(1'000)) {
    }
    const auto alone = computed(cell);
    REQUIRE(again.report().parts.size() == alone.parts.size());
    for (std::size_t i = 0; i < alone.parts.size(); ++i) {
        const auto& [shared, whole] =
            std::pair(again.report().parts[i].report, alone.parts[i].report);
        CHECK(shared.verdict == whole.verdict);
        CHECK(shared.bound == whole.bound);
        CHECK(shared.schedules + faultless.parts[i].report.schedules == whole.schedules);
    }
}

TEST_CASE("matrix: a fault planted in a strategy that declares never to lose contradicts it") {
    using tabacus::test::StrategyFault;
    const auto with = [](StrategyFault fault) {
        auto bound = small;
        bound.make = tabacus::test::planted_hosts(fault);
        // `transactional` declares that nothing is lost when a tab dies.
        CellExploration exploration({"transactional", StorageModel::cached, Fault::kill}, bound);
        while (exploration.explore(1'000)) {
        }
        return exploration.report();
    };
    CHECK_FALSE(with(StrategyFault::none_transaction).contradicts());
    for (const auto fault :
         {StrategyFault::reads_in_another_transaction, StrategyFault::acknowledges_before_commit}) {
        CAPTURE(static_cast<int>(fault));
        const auto report = with(fault);
        CHECK(report.verdict() == Verdict::broken);
        CHECK(report.contradicts());
        CHECK(json_of(report).find("\"contradicts\":true") != std::string::npos);
    }
}

TEST_CASE("matrix: a strategy that keeps all in the database runs alike in every model") {
    for (const auto strategy : counting_strategies()) {
        if (depends_on_model(strategy)) continue;
        CAPTURE(strategy);
        for (std::uint64_t seed = 1; seed <= 50; ++seed) {
            std::vector<std::uint64_t> hashes;
            for (const auto model :
                 {StorageModel::mutexed, StorageModel::interleaved, StorageModel::cached}) {
                const CountingSetup setup{.strategy = std::string(strategy),
                                          .model = model,
                                          .counting = {.tabs = 3},
                                          .faults = {Fault::kill, Fault::bfcache, Fault::quota},
                                          .faults_max = 1};
                hashes.push_back(
                    sample(program_of(setup, nullptr, nullptr), seed, {.faults_max = 1}).hash);
            }
            CHECK(hashes[0] == hashes[1]);
            CHECK(hashes[1] == hashes[2]);
        }
    }
}

TEST_CASE("matrix: texts in reports are escaped") {
    ExploreReport report;
    report.failure = "a \"b\" \\ \n";
    CHECK(json_of(report).find(R"("failure":"a \"b\" \\ \u000a")") != std::string::npos);
}

}  // namespace tabacus::lab::test
