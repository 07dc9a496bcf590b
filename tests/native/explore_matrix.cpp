// The matrix: what its cells are made of, and what they say of what is declared.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "lab/explore/matrix.hpp"
#include "lab/explore/report_text.hpp"
#include "lab/explore/sampling.hpp"

namespace tabacus::lab::test {
namespace {

constexpr MatrixBound small{.work = 20'000, .seeds = 50};

CellReport computed(const MatrixCell& cell) {
    CellExploration exploration(cell, small);
    while (exploration.explore(1'000)) {
    }
    return exploration.report();
}

}  // namespace

TEST_CASE("matrix: a cell for each strategy, model and fault") {
    const auto cells = matrix_cells();
    CHECK(cells.size() == counting_strategies().size() * 3 * tabacus::fault_count);
    CHECK(cells.size() == 330);
}

TEST_CASE("matrix: a strategy that declares no loss is proved") {
    const auto report = computed({"naive", StorageModel::mutexed, FaultClass::none});
    CHECK(report.verdict() == Verdict::proved);
    CHECK(report.parts.size() == 2);
    CHECK_FALSE(report.contradicts());
    CHECK_FALSE(report.unfound());
}

TEST_CASE("matrix: a declared loss is found, and agrees") {
    const auto report = computed({"locked", StorageModel::cached, FaultClass::none});
    CHECK(report.verdict() == Verdict::broken);
    CHECK(report.found(Finding::lost));
    CHECK_FALSE(report.found(Finding::exceeded));
    CHECK_FALSE(report.contradicts());
}

TEST_CASE(
    "matrix: what is declared and not found is told, and what is found and not declared fails") {
    auto report = computed({"locked", StorageModel::cached, FaultClass::none});
    report.may_lose = false;
    CHECK(report.contradicts());
    report.may_lose = report.may_exceed = true;
    CHECK(report.unfound());
    CHECK_FALSE(report.contradicts());
    report.parts.front().finding = Finding::stuck;
    CHECK(report.contradicts());
}

TEST_CASE("matrix: a crash of the browser is not explored, and says so") {
    const auto report = computed({"replicated", StorageModel::cached, FaultClass::browser_crash});
    CHECK_FALSE(report.explored);
    CHECK(json_of(report).find("\"not explored\"") != std::string::npos);
}

TEST_CASE("matrix: what keeps all in the database runs alike in every model") {
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
    report.complaint = "a \"b\" \\ \n";
    CHECK(json_of(report).find(R"("complaint":"a \"b\" \\ \u000a")") != std::string::npos);
}

}  // namespace tabacus::lab::test
