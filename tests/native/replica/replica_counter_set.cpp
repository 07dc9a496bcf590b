// The counters of a replica: which of them a commit takes, and what the end of an epoch does to them.
#include <catch2/catch_test_macros.hpp>
#include <string>

#include "protocol/replica/counter/counter_set.hpp"
#include "watched_wait.hpp"

namespace tabacus::test {

TEST_CASE("counter set: a counter is found by its key, and stays where it is") {
    CounterSet counters;
    CHECK(counters.find("a") == nullptr);
    auto& first = counters.add("a", Durability::relaxed, false);
    for (const auto* const key : {"b", "c", "d", "e"}) {
        counters.add(key, Durability::relaxed, false);
    }
    CHECK(counters.find("a") == &first);
    CHECK(counters.find("d")->key == "d");
    CHECK(counters.find("") == nullptr);
}

TEST_CASE("counter set: each of ten thousand counters is found, and no other") {
    CounterSet counters;
    for (int i = 0; i < 10'000; ++i) {
        counters.add(std::to_string(i), Durability::relaxed, false);
    }
    for (int i = 0; i < 10'000; ++i) {
        const auto* const found = counters.find(std::to_string(i));
        REQUIRE(found != nullptr);
        REQUIRE(found->key == std::to_string(i));
    }
    CHECK(counters.find("10000") == nullptr);
}

TEST_CASE("counter set: a counter is busy from its first use until nothing is to be done for it") {
    CounterSet counters;
    auto& state = counters.add("c", Durability::relaxed, true);
    auto& other = counters.add("other", Durability::relaxed, true);
    CHECK(counters.busy().size() == 2);  // both are unread
    state.reads.take_first();
    other.reads.take_first();
    counters.settle();
    CHECK(counters.busy().empty());

    state.add(1);
    counters.touch(state);
    counters.touch(state);
    CHECK(counters.busy().size() == 1);
    counters.settle();
    CHECK(counters.busy().size() == 1);  // it is dirty
    state.confirm(state.own_row.attempted(), 1);
    state.value.report();
    state.news.take_due();
    counters.settle();
    CHECK(counters.busy().empty());
}

TEST_CASE("counter set: a turn is requested once, and again after it has begun") {
    CounterSet counters;
    CHECK_FALSE(counters.turn_requested());
    CHECK(counters.request_turn());
    CHECK(counters.turn_requested());
    CHECK_FALSE(counters.request_turn());
    counters.begin_turn();
    CHECK_FALSE(counters.turn_requested());
    CHECK(counters.request_turn());
}

TEST_CASE("counter set: the begin of a turn reports each changed value once") {
    CounterSet counters;
    auto& state = counters.add("c", Durability::relaxed, true);
    int reports = 0;
    const auto changes = state.value.listeners().add([&reports] { ++reports; });
    state.add(2);
    state.add(3);
    CHECK(reports == 0);
    counters.begin_turn();
    counters.begin_turn();
    CHECK(reports == 1);
}

TEST_CASE("counter set: a commit takes at most as many rows as it may") {
    CounterSet counters;
    for (const auto* const key : {"a", "b", "c"}) {
        counters.add(key, Durability::relaxed, true).add(1);
    }
    CHECK(counters.gather(Durability::relaxed, 2).size() == 2);
    CHECK(counters.gather(Durability::relaxed).size() == 3);
}

TEST_CASE("counter set: a commit takes the dirty rows that its durability is enough for") {
    CounterSet counters;
    auto& relaxed = counters.add("relaxed", Durability::relaxed, false);
    auto& strict = counters.add("strict", Durability::strict, false);
    CHECK_FALSE(counters.dirty());
    CHECK(counters.gather(Durability::strict).empty());

    relaxed.add(3);
    CHECK(counters.dirty());
    CHECK(counters.durability_of_dirty() == Durability::relaxed);
    strict.add(4);
    CHECK(counters.durability_of_dirty() == Durability::strict);

    const auto few = counters.gather(Durability::relaxed);
    REQUIRE(few.size() == 1);
    CHECK(few.front().state == &relaxed);
    CHECK(few.front().totals == Totals{3, 0});
    CHECK(few.front().increments == Totals{3, 0});
    CHECK(few.front().through == 1);
    CHECK_FALSE(few.front().based);
    CHECK(counters.gather(Durability::strict).size() == 2);
}

TEST_CASE("counter set: a row of a commit has the totals, and the part that is not committed") {
    CounterSet counters;
    auto& state = counters.add("c", Durability::relaxed, false);
    state.own_row.set_base({10, 0});
    state.add(2);
    const auto rows = counters.gather(Durability::relaxed);
    REQUIRE(rows.size() == 1);
    CHECK(rows.front().totals == Totals{12, 0});
    CHECK(rows.front().increments == Totals{2, 0});
    CHECK(rows.front().based);
}

TEST_CASE("counter set: the end of an epoch puts based rows among the others, and no sum changes") {
    CounterSet counters;
    auto& based = counters.add("based", Durability::relaxed, false);
    auto& unbased = counters.add("unbased", Durability::relaxed, false);
    based.own_row.set_base({10, 0});
    based.add(2);
    unbased.add(5);

    counters.end_epoch("g/0", 7);
    CHECK(based.row_cache.committed_sum() == 10);
    REQUIRE(based.row_cache.rows().size() == 1);
    CHECK(based.row_cache.rows().front().id == "g/0");
    CHECK(based.row_cache.rows().front().committed.epoch == 7);
    CHECK(based.row_cache.sum() + based.own_row.value() == 12);
    CHECK(unbased.row_cache.rows().empty());
    CHECK(unbased.own_row.value() == 5);
    CHECK(counters.dirty());
}

TEST_CASE("counter set: a failure reaches the flushes of all counters") {
    CounterSet counters;
    auto& one = counters.add("one", Durability::relaxed, false);
    auto& two = counters.add("two", Durability::relaxed, false);
    CHECK_FALSE(counters.awaited());
    const WatchedWait first(one.flushes.wait());
    const WatchedWait second(two.flushes.wait());
    CHECK(counters.awaited());
    counters.fail_flushes(Error(ErrorCode::closed, "closed"));
    CHECK(first.failure() == ErrorCode::closed);
    CHECK(second.failure() == ErrorCode::closed);
    CHECK_FALSE(counters.awaited());
}

TEST_CASE("counter set: it is unsettled while one commit of one counter is unknown") {
    CounterSet counters;
    counters.add("one", Durability::relaxed, false);
    auto& two = counters.add("two", Durability::relaxed, false);
    CHECK_FALSE(counters.unsettled());
    two.unknown.push_back({"g/0", {1, {2, 0}}, 1, {}});
    CHECK(counters.unsettled());
    CHECK_FALSE(two.adoption_unknown());
    two.unknown.push_back({"g/0", {1, {2, 0}}, 1, {2, 0}});
    CHECK(two.adoption_unknown());
}

TEST_CASE("counter state: an add beyond the exact integers changes neither value nor row") {
    CounterSet counters;
    auto& state = counters.add("c", Durability::relaxed, true);
    CHECK(state.add(value_max));
    CHECK_FALSE(state.add(1));
    CHECK(state.value.get() == value_max);
    CHECK(state.own_row.value() == value_max);
    CHECK(state.add(-1));
    CHECK(state.value.get() == value_max - 1);
}

}  // namespace tabacus::test
