// The explorer, from a request to a verdict: shrinking, seeds, traces and diagrams.
#include <algorithm>
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <string>
#include <utility>

#include "explore_toy.hpp"
#include "lab/explore/explorer.hpp"
#include "lab/explore/sampling.hpp"
#include "lab/explore/shrink.hpp"
#include "lab/report/sequence_diagram.hpp"
#include "lab/seeded_random.hpp"
#include "tabacus/common/error.hpp"

namespace tabacus::lab::test {
namespace {

ExploreReport explore(ExploreRequest request) {
    Exploration exploration(std::move(request));
    while (exploration.explore(1'000)) {
    }
    return exploration.report();
}

ExploreRequest request_for(std::string strategy, StorageModel model, Faults faults = {}) {
    return {.setup = {.strategy = std::move(strategy),
                      .model = model,
                      .counting = {},
                      .faults = faults,
                      .faults_max = 1},
            .schedules_max = 20'000,
            .seeds = 2'000};
}

}  // namespace

TEST_CASE("a strategy is proved, and the report names the schedules") {
    const auto report = explore(request_for("transactional", StorageModel::cached));
    CHECK(report.verdict == Verdict::proved);
    CHECK(report.bound == "every schedule");
    CHECK(report.exhausted);
    CHECK(report.schedules > 1);
    CHECK(report.seed.empty());
}

TEST_CASE("a broken strategy has a seed that replays, a trace and a diagram") {
    const auto report = explore(request_for("locked", StorageModel::cached));
    REQUIRE(report.verdict == Verdict::broken);
    CHECK(report.failure.find("an update is lost") == 0);
    CHECK(report.trace.find("tab 2    reads tabacus/t/locked/c: nothing") != std::string::npos);
    CHECK(report.trace.find(report.failure) != std::string::npos);
    CHECK(report.svg.starts_with("<svg "));
    CHECK(report.svg.find("prefers-color-scheme:dark") != std::string::npos);

    const auto again = replay_seed(report.seed);
    REQUIRE(again);
    CHECK(again->verdict == Verdict::broken);
    CHECK(again->trace == report.trace);
    CHECK(again->svg == report.svg);
}

TEST_CASE("the lost update of naive is shrunk to one preemption") {
    for (const auto model : {StorageModel::interleaved, StorageModel::cached}) {
        const auto report = explore(request_for("naive", model, {Fault::kill, Fault::freeze}));
        REQUIRE(report.verdict == Verdict::broken);
        const auto seed = parse_seed(report.seed);
        REQUIRE(seed);
        CHECK(std::count_if(seed->schedule.begin(), seed->schedule.end(),
                            [](auto entry) { return entry != 0; }) <= 1);
    }
}

TEST_CASE("too large a program is explored within few preemptions, and then by seeds") {
    auto request = request_for("replicated", StorageModel::cached, {Fault::kill});
    request.setup.counting = {.tabs = 2, .adds = 1};
    request.schedules_max = 2'000;
    request.preemptions_max = 0;  // with one: 150 schedules, and 22,420 with a death
    request.seeds = 300;
    const auto report = explore(request);
    CHECK(report.failure.empty());
    CHECK(report.verdict == Verdict::unbroken_within_bound);
    CHECK(report.exhausted);
    CHECK(
        report.bound ==
        "every schedule without faults with at most 0 preemptions; every schedule with 1 fault and "
        "at most 0 preemptions; 300 seeded schedules");
    CHECK(report.faults[static_cast<std::size_t>(Fault::kill)] > 100);
    CHECK(explore(request).steps == report.steps);
}

TEST_CASE("a request that cannot be met is refused") {
    CHECK_THROWS_AS(Exploration(request_for("nonsense", StorageModel::cached)), Error);
    auto request = request_for("naive", StorageModel::cached);
    request.setup.counting.tabs = 0;
    CHECK_THROWS_AS(Exploration(request), Error);
    request.setup.counting.tabs = tabs_limit + 1;
    CHECK_THROWS_AS(Exploration(request), Error);
}

TEST_CASE("a seed is read back exactly, and nothing else is a seed") {
    SeedText seed{{"naive", StorageModel::cached, {3, 2, true, false, true}, {Fault::kill}, 1}, {}};
    SeededRandom random(7);
    for (int round = 0; round < 500; ++round) {
        CAPTURE(round);
        const auto text = format_seed(seed);
        const auto read = parse_seed(text);
        REQUIRE(read);
        CHECK(read->schedule == seed.schedule);
        CHECK(read->setup.strategy == seed.setup.strategy);
        CHECK(read->setup.faults.bits() == seed.setup.faults.bits());
        CHECK(format_seed(*read) == text);

        auto damaged = text;
        damaged[random.below(text.size())] = "Aa0-_=. "[random.below(8)];
        CHECK((damaged == text || !parse_seed(damaged)));
        CHECK_FALSE(parse_seed(text.substr(0, random.below(text.size()))));
        CHECK_FALSE(parse_seed(text + "A"));
        const auto entry = random.below(4) == 0 ? random.below(300) : 0;
        seed.schedule.push_back(static_cast<std::uint32_t>(entry));
    }
    CHECK_FALSE(parse_seed(""));
    CHECK_FALSE(parse_seed("tabacus-1-"));
    CHECK_FALSE(parse_seed("tabacus-2-" + format_seed(seed).substr(10)));
}

TEST_CASE("shrinking a long failing schedule leaves the preemptions that the failure needs") {
    using tabacus::test::Instruction;
    using Kind = Instruction::Kind;
    using tabacus::test::program_of;
    tabacus::test::Toy toy;
    for (int i = 0; i < 3; ++i) {
        tabacus::test::Code code(6, Instruction{});
        code.push_back({Kind::load, 0});
        code.push_back({Kind::store, 0, 1});
        toy.threads.push_back(code);
    }
    toy.judge = [](const auto& state) {
        return state[0] == 1 ? std::string("two are lost") : std::string();
    };
    const auto program = program_of(toy);
    std::uint64_t found = 0;
    for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
        const auto outcome = sample(program, seed, {.length = 24});
        if (outcome.failure.empty()) continue;
        ++found;
        const auto least = shrink(program, outcome);
        CHECK(least.failure == "two are lost");
        CHECK(std::count_if(least.schedule.begin(), least.schedule.end(),
                            [](auto entry) { return entry != 0; }) <= 4);
    }
    CHECK(found > 5);
}

TEST_CASE("equal seeds make equal runs, and different seeds make different runs") {
    const CountingSetup setup{.strategy = "replicated",
                              .model = StorageModel::cached,
                              .counting = {.tabs = 3, .adds = 2},
                              .faults = {Fault::kill, Fault::freeze, Fault::bfcache},
                              .faults_max = 2};
    const auto program = program_of(setup, nullptr, nullptr);
    const Sampling sampling{.faults_max = 2, .length = default_schedule_length(program)};
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        CAPTURE(seed);
        const auto outcome = sample(program, seed, sampling);
        CHECK(outcome.failure.empty());
        CHECK(outcome.hash == sample(program, seed, sampling).hash);
        CHECK(outcome.hash == replay(program, outcome.schedule).hash);
        CHECK(outcome.hash != sample(program, seed + 1, sampling).hash);
    }
}

TEST_CASE("a long run is not taken for one that never ends") {
    ExploreRequest request{.setup = {.strategy = "replicated",
                                     .model = StorageModel::cached,
                                     .counting = {.tabs = 64, .adds = 1},
                                     .faults = {},
                                     .faults_max = 0}};
    request.work_max = 1'000;
    request.seeds = 1;
    Exploration exploration(request);
    while (exploration.explore(1'000)) {
    }
    CHECK(exploration.report().steps > steps_max_default);
    CHECK(exploration.report().verdict == Verdict::unbroken_within_bound);
}

TEST_CASE("the same seeds make the same runs here and in WebAssembly") {
    // tests/node/lab.test.js has the same numbers.
    const std::array<std::pair<std::string, std::uint64_t>, 3> expected = {
        {{"replicated", 0xc37bbcce3f9d8036U},
         {"log", 0x12452d53d54f0039U},
         {"transactional", 0xe76979380a4b8430U}}};
    for (const auto& [strategy, hash] : expected) {
        CAPTURE(strategy);
        const CountingSetup setup{.strategy = strategy,
                                  .model = StorageModel::cached,
                                  .counting = {.tabs = 3, .adds = 2},
                                  .faults = Faults::of_bits(0x3ffU),  // the first ten
                                  .faults_max = 2};
        const auto program = program_of(setup, nullptr, nullptr);
        CHECK(hash_of_seeds(program, 1, 200, {.faults_max = 2}) == hash);
    }
}

}  // namespace tabacus::lab::test
