// Tests of the explorer's search: programs whose schedules can be counted by arithmetic, and
// searches with and without reduction.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <set>

#include "explore_toy.hpp"
#include "lab/explore/search.hpp"
#include "lab/seeded_random.hpp"

namespace tabacus::test {
namespace {

using lab::Bound;
using lab::Search;
using Kind = Instruction::Kind;
using State = std::vector<std::int64_t>;

constexpr std::uint64_t no_end = UINT64_MAX;

struct Found {
    lab::SearchCounts counts;
    std::set<State> states;
    bool exhausted;
};

Found explore(Toy toy, const Bound& bound) {
    Found found{};
    toy.judge = [&found](const State& state) {
        found.states.insert(state);
        return std::string();
    };
    Search search(program_of(toy), bound);
    while (search.explore(no_end)) {
    }
    found.counts = search.counts();
    found.exhausted = search.exhausted();
    return found;
}

Code steps(std::size_t count) { return Code(count, Instruction{}); }
Code increments(std::size_t count, std::uint32_t which = 0) {
    Code code;
    for (; count > 0; --count) {
        code.push_back({Kind::load, which});
        code.push_back({Kind::store, which, 1});
    }
    return code;
}

Instruction any_instruction(lab::SeededRandom& random, std::size_t threads, bool locks) {
    constexpr std::array kinds = {Kind::load, Kind::store, Kind::set,   Kind::load, Kind::post,
                                  Kind::wait, Kind::kill,  Kind::store, Kind::lock, Kind::unlock};
    const auto kind = kinds[random.below(kinds.size() - (locks ? 0 : 2))];
    const bool of_thread = kind == Kind::kill || kind == Kind::post;
    return {kind, static_cast<std::uint32_t>(random.below(of_thread ? threads : ToyRun::variables)),
            static_cast<std::int64_t>(random.below(4))};
}

/// Returns a random program, with locks only if `locks` is set: a thread that waits for ever at a
/// lock has a step that the search never sees, which reduction over all schedules does not allow
/// (run.hpp).
Toy any_toy(std::uint64_t seed, bool locks) {
    lab::SeededRandom random(seed);
    Toy toy;
    toy.threads.resize(2 + random.below(3));
    const auto length_max = toy.threads.size() == 2 ? 6U : toy.threads.size() == 3 ? 4U : 3U;
    for (auto& code : toy.threads) {
        const auto length = 1 + random.below(length_max);
        while (code.size() < length)
            code.push_back(any_instruction(random, toy.threads.size(), locks));
    }
    return toy;
}

}  // namespace

TEST_CASE("without reduction a and b steps have (a+b)!/(a!b!) schedules") {
    const auto count = [](std::size_t a, std::size_t b) {
        return explore({{steps(a), steps(b)}, {}}, {.reduction = false}).counts.schedules;
    };
    CHECK(count(1, 1) == 2);
    CHECK(count(2, 3) == 10);
    CHECK(count(5, 5) == 252);
    CHECK(explore({{steps(2), steps(2), steps(2)}, {}}, {.reduction = false}).counts.schedules ==
          90);  // 6!/(2!2!2!)
}

TEST_CASE("with reduction independent steps have one schedule") {
    const auto found = explore({{steps(5), steps(5), steps(5)}, {}}, {});
    CHECK(found.counts.schedules == 1);
    CHECK(found.counts.asleep == 0);
    CHECK(found.exhausted);
    CHECK(explore({{increments(2, 0), increments(2, 1), increments(2, 2)}, {}}, {})
              .counts.schedules == 1);
}

TEST_CASE("with reduction n writes of one variable have n! schedules") {
    CHECK(explore({{{{Kind::set, 0, 1}}, {{Kind::set, 0, 2}}, {{Kind::set, 0, 3}}}, {}}, {})
              .counts.schedules == 6);
}

TEST_CASE(
    "without preemptions threads run one after another; with many, every schedule is explored") {
    const Toy toy{{steps(3), steps(3), steps(3)}, {}};
    const auto count = [&toy](std::uint32_t preemptions) {
        return explore(toy, {.preemptions = preemptions, .reduction = false}).counts.schedules;
    };
    CHECK(count(0) == 6);
    // With one preemption the first of 3 threads may stop after 1 or 2 steps for one of 2 others,
    // which runs to its end, and the 2 that are left follow in either order: 3 · 2 · 2 · 2
    // schedules more. Or the first thread runs to its end, and the second one (of 2) stops after 1
    // or 2 steps for the third: 3 · 2 · 2 more.
    CHECK(count(1) == 6 + 24 + 12);
    CHECK(count(9) == 1680);
}

TEST_CASE("within preemptions, one of schedules that differ only in commuting steps is explored") {
    const auto count = [](std::size_t threads, std::uint32_t preemptions) {
        const Toy toy{std::vector<Code>(threads, steps(3)), {}};
        const auto found = explore(toy, {.preemptions = preemptions});
        CHECK(found.exhausted);
        return found.counts.schedules;
    };
    // All schedules lead to the same state. Once no preemption is left, the thread that runs last
    // may lack what another would have seen, so the search keeps at most one end for each thread
    // that may be last.
    for (const std::uint32_t preemptions : {0U, 1U, 2U, 3U, 9U}) {
        CAPTURE(preemptions);
        CHECK(count(1, preemptions) == 1);
        CHECK(count(2, preemptions) <= 2);
        CHECK(count(3, preemptions) <= 3);
    }
    // n writes of a variable have n! orders, and all of them are possible without a preemption.
    const Toy writes{{{{Kind::set, 0, 1}}, {{Kind::set, 0, 2}}, {{Kind::set, 0, 3}}}, {}};
    CHECK(explore(writes, {.preemptions = 0}).counts.schedules == 6);
    CHECK(explore(writes, {.preemptions = 5}).counts.schedules == 6);
}

TEST_CASE("the lost update is found, and with a lock there is none") {
    Toy toy{{increments(2), increments(2)}, [](const State& state) {
                return state[0] == 4 ? std::string() : "lost " + std::to_string(4 - state[0]);
            }};
    Search search(program_of(toy), {});
    search.explore(no_end);
    REQUIRE(search.failed_run());
    CHECK(lab::replay(program_of(toy), search.failed_run()->schedule).failure ==
          search.failed_run()->failure);

    for (auto& code : toy.threads) {
        code.insert(code.begin(), {Kind::lock, 1});
        code.push_back({Kind::unlock, 1});
    }
    Search locked(program_of(toy), {});
    locked.explore(no_end);
    CHECK(locked.exhausted());
    CHECK(locked.counts().schedules == 2);
}

TEST_CASE("with and without reduction the same final states are reached", "[.][long]") {
    std::uint64_t with = 0;
    std::uint64_t without = 0;
    for (std::uint64_t seed = 0; seed < 3'000; ++seed) {
        CAPTURE(seed);
        const auto toy = any_toy(seed, false);
        const auto reduced = explore(toy, {});
        const auto full = explore(toy, {.reduction = false});
        REQUIRE(reduced.exhausted);
        REQUIRE(full.exhausted);
        CHECK(reduced.states == full.states);
        with += reduced.counts.schedules + reduced.counts.asleep;
        without += full.counts.schedules;
    }
    CHECK(with * 5 < without);
}

TEST_CASE("within preemptions the same final states are reached with and without reduction",
          "[.][long]") {
    std::uint64_t with = 0;
    std::uint64_t without = 0;
    for (std::uint64_t seed = 0; seed < 1'000; ++seed) {
        const auto toy = any_toy(seed, true);
        for (std::uint32_t preemptions = 0; preemptions <= 4; ++preemptions) {
            CAPTURE(seed, preemptions);
            const auto reduced = explore(toy, {.preemptions = preemptions});
            const auto full = explore(toy, {.preemptions = preemptions, .reduction = false});
            REQUIRE(reduced.exhausted);
            REQUIRE(full.exhausted);
            CHECK(reduced.states == full.states);
            with += reduced.counts.schedules + reduced.counts.asleep;
            without += full.counts.schedules;
        }
    }
    CHECK(with * 2 < without);
}

}  // namespace tabacus::test
