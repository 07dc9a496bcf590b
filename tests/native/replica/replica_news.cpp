// The channel of a replica's news.
#include <catch2/catch_test_macros.hpp>
#include <list>
#include <set>
#include <sstream>
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
    const auto messages = take_announcements(counters, slot, false);
    REQUIRE(messages.size() == 1);
    CHECK(parse_message(messages.front()) ==
          Message{Message::Kind::totals, "based", "g/0", {3, {10, 2}}});
    CHECK(take_announcements(counters, slot, false).empty());
}

namespace {
/// Adds to `count` counters, whose names begin with `prefix`.
void add_to(CounterSet& counters, int count, const std::string& prefix = "") {
    for (int i = 0; i < count; ++i) {
        auto& state = counters.add(prefix + std::to_string(i), Durability::relaxed, true);
        state.add(1);
        counters.touch(state);
    }
}
}  // namespace

TEST_CASE("news: several rows are announced in one message, with a line for each") {
    ReplicaSlot slot;
    slot.begin_epoch({"g", "0", 3});
    CounterSet counters;
    add_to(counters, 3);
    const auto messages = take_announcements(counters, slot, false);
    CHECK(messages == std::list<std::string>{"1;n;0;g/0;3;1;0\n1;n;1;g/0;3;1;0\n1;n;2;g/0;3;1;0"});
    CHECK(take_announcements(counters, slot, false).empty());
}

TEST_CASE("news: many rows are announced in messages of bounded size, each row once") {
    ReplicaSlot slot;
    slot.begin_epoch({"g", "0", 3});
    CounterSet counters;
    constexpr int count = 200;
    const std::string name(300, 'x');
    add_to(counters, count, name);
    std::set<std::string> announced;
    int taken = 0;
    for (auto messages = take_announcements(counters, slot, false); !messages.empty();
         messages = take_announcements(counters, slot, false)) {
        ++taken;
        REQUIRE(messages.size() == 1);
        CHECK(messages.front().size() < 16'384 + name.size() + 100);
        std::istringstream lines(messages.front());
        for (std::string line; std::getline(lines, line);) {
            const auto message = parse_message(line);
            REQUIRE(message);
            announced.insert(message->counter);
        }
    }
    CHECK(announced.size() == count);
    CHECK(taken == 4);
}

TEST_CASE("news: a counter that version 0.1.0 has counted is announced in a message of its own") {
    ReplicaSlot slot;
    slot.begin_epoch({"g", "0", epochs_per_adoption});
    CounterSet counters;
    add_to(counters, 4);
    counters.find("1")->row_cache.merge_announced("g/7", {3, {1, 0}});
    counters.find("2")->row_cache.merge_committed("g/7", {3, {1, 0}});
    counters.find("3")->row_cache.merge_committed("g/7", {epochs_per_adoption, {1, 0}});
    const auto line = [&](const char* counter) {
        return format_message(
            {Message::Kind::totals, counter, "g/0", {epochs_per_adoption, {1, 0}}});
    };
    CHECK(take_announcements(counters, slot, false) ==
          std::list<std::string>{line("1"), line("2"), line("0") + "\n" + line("3")});
    for (auto* state : counters.busy()) state->news.announce();
    CHECK(take_announcements(counters, slot, true) ==
          std::list<std::string>{line("0"), line("1"), line("2"), line("3")});
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
