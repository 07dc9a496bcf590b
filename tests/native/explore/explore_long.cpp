// Long runs: many seeds, many tabs, every fault. They are hidden: `tabacus_tests [long]` of a
// release build runs them.
#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lab/explore/explorer.hpp"
#include "lab/explore/sampling.hpp"

namespace tabacus::lab::test {
namespace {

constexpr std::uint64_t long_seeds = 100'000;
constexpr std::uint64_t twice_seeds = 1'000;
constexpr std::uint64_t fired_min = 1'000;
constexpr std::uint32_t faults_max = 4;

/// Faults that destroy or corrupt the store. What it held may be lost, and nothing else.
constexpr Faults spoiling = {Fault::lose_database, Fault::clear_storage, Fault::corrupt,
                             Fault::browser_crash};
constexpr Faults sparing = {Fault::kill,    Fault::freeze,           Fault::throttle,
                            Fault::bfcache, Fault::close_connection, Fault::quota};

/// Returns what a seed runs: by turns each strategy that promises something, under each model.
CountingSetup setup_of(std::uint64_t seed) {
    const bool spoilt = seed % 4 == 3;
    return {.strategy = seed / 4 % 2 == 0 ? "replicated" : "transactional",
            .model = static_cast<StorageModel>(seed / 8 % 3),
            .counting = {.tabs = 8, .adds = 1, .may_lose = spoilt},
            .faults = spoilt ? spoiling : sparing,
            .faults_max = faults_max};
}

Outcome run_seed(std::uint64_t seed, FaultCounts& fault_counts) {
    // The approximate numbers of steps that eight tabs take with each strategy.
    constexpr std::array<std::uint64_t, 2> length = {300, 50};
    return sample(program_of(setup_of(seed), nullptr, &fault_counts), seed,
                  {.faults_max = faults_max, .length = length.at(seed / 4 % 2)});
}

struct Sum {
    std::mutex mutex;
    FaultCounts faults{};
    std::uint64_t steps = 0;
    std::vector<std::string> failures;
};

void run_some(std::atomic<std::uint64_t>& next, Sum& sum) {
    FaultCounts faults{};
    std::uint64_t steps = 0;
    for (;;) {
        const auto seed = next.fetch_add(1);
        if (seed >= long_seeds) break;
        const auto outcome = run_seed(seed, faults);
        steps += outcome.steps;
        if (outcome.failure.empty() && !outcome.cut) continue;
        const std::lock_guard guard(sum.mutex);
        sum.failures.push_back("seed " + std::to_string(seed) + ": " + outcome.failure +
                               (outcome.cut ? "cut" : "") + " " +
                               format_seed({setup_of(seed), outcome.schedule}));
    }
    const std::lock_guard guard(sum.mutex);
    sum.steps += steps;
    for (std::size_t i = 0; i < faults.size(); ++i) sum.faults.at(i) += faults.at(i);
}

}  // namespace

TEST_CASE("eight tabs lose nothing and finish under every fault, in 100,000 seeds", "[.][long]") {
    std::atomic<std::uint64_t> next{0};
    Sum sum;
    std::vector<std::thread> threads;
    for (unsigned i = std::max(std::thread::hardware_concurrency(), 1U); i > 0; --i) {
        threads.emplace_back([&] { run_some(next, sum); });
    }
    for (auto& thread : threads) thread.join();
    std::printf("%llu steps\n", static_cast<unsigned long long>(sum.steps));
    for (std::size_t i = 0; i < fault_count; ++i) {
        const auto name = std::string(fault_name(static_cast<Fault>(i)));
        std::printf("%-18s fired %8llu times\n", name.c_str(),
                    static_cast<unsigned long long>(sum.faults.at(i)));
        CHECK(sum.faults.at(i) >= fired_min);
    }
    for (const auto& failure : sum.failures) UNSCOPED_INFO(failure);
    CHECK(sum.failures.empty());
}

TEST_CASE("1,000 seeds that run twice have equal hashes", "[.][long]") {
    FaultCounts faults{};
    for (std::uint64_t seed = 0; seed < twice_seeds; ++seed) {
        CAPTURE(seed);
        const auto first = run_seed(seed, faults);
        const auto second = run_seed(seed, faults);
        CHECK(first.hash == second.hash);
        CHECK(first.steps == second.steps);
    }
}

}  // namespace tabacus::lab::test
