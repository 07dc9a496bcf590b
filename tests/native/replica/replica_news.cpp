// The channel of a replica's news.
#include <catch2/catch_test_macros.hpp>
#include <set>
#include <string>

#include "protocol/common/wait_list.hpp"
#include "protocol/replica/counter/counter_set.hpp"
#include "protocol/replica/replica_news.hpp"
#include "protocol/replica/replica_slot.hpp"

namespace tabacus::test {

TEST_CASE("news: a row is announced once, under its slot and epoch, and only once it is based") {
    ReplicaSlot slot;
    slot.begin_epoch({"g", "0", 3});
    CounterSet counters;
    auto& based = counters.add("based", Durability::relaxed, false);
    auto& unbased = counters.add("unbased", Durability::relaxed, false);
    based.own_row.set_base({10, 0});
    based.add(-2);
    unbased.add(1);
    const auto messages = take_announcements(counters, slot);
    REQUIRE(messages.size() == 1);
    CHECK(parse_message(messages.front()) ==
          Message{Message::Kind::totals, "based", "g/0", {3, {10, 2}}});
    CHECK(take_announcements(counters, slot).empty());
}

TEST_CASE("news: many rows are announced in parts, each row once") {
    ReplicaSlot slot;
    slot.begin_epoch({"g", "0", 3});
    CounterSet counters;
    for (int i = 0; i < 5; ++i) {
        auto& state = counters.add(std::to_string(i), Durability::relaxed, true);
        state.add(1);
        counters.touch(state);
    }
    std::set<std::string> announced;
    for (const std::size_t most : {2U, 2U, 1U, 0U}) {
        const auto messages = take_announcements(counters, slot, 2);
        CHECK(messages.size() == most);
        announced.insert(messages.begin(), messages.end());
    }
    CHECK(announced.size() == 5);
}

TEST_CASE("wait list: a coroutine that waits again while it is released waits for the next time") {
    struct Rounds {
        static Task<void> wait_twice(WaitList& list, int& rounds) {
            co_await list.wait();
            ++rounds;
            co_await list.wait();
            ++rounds;
        }
    };
    WaitList list;
    int rounds = 0;
    Scope scope;
    scope.spawn(Rounds::wait_twice(list, rounds));
    list.release_all();
    CHECK(rounds == 1);
    list.release_all();
    CHECK(rounds == 2);
    list.release_all();
    CHECK(scope.idle());
}

}  // namespace tabacus::test
