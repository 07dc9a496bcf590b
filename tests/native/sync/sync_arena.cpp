#include <algorithm>
#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <set>
#include <string_view>
#include <vector>

#include "sync_support.hpp"
#include "tabacus/sync/arena.hpp"

using namespace tabacus::sync;
using tabacus::sync::test::on_threads;

namespace {

struct alignas(Arena) ArenaMemory {
    std::byte bytes[256 * 1024];
};

class TestArena {
  public:
    explicit TestArena(std::uint32_t bytes = sizeof(ArenaMemory) / 2, std::uint32_t agents = 8)
        : memory_(std::make_unique<ArenaMemory>()),
          arena(*new (memory_->bytes) Arena(bytes, agents)) {}

  private:
    std::unique_ptr<ArenaMemory> memory_;

  public:
    Arena& arena;
};

Agent* enter(Arena& arena) {
    const Owner id = arena.take_id();
    return arena.enter(id, id, true);
}

OpenResult open(Arena& arena, Agent& agent, std::u16string_view name, Kind kind) {
    std::copy(name.begin(), name.end(), agent.name.begin());
    return arena.open(agent, kind, static_cast<std::uint32_t>(name.size()));
}

}  // namespace

TEST_CASE("a name opens the same object for every thread", "[sync]") {
    TestArena test;
    Agent& one = *enter(test.arena);
    Agent& two = *enter(test.arena);
    CHECK(one.id != two.id);
    const auto first = open(test.arena, one, u"clicks", Kind::atomic);
    const auto second = open(test.arena, two, u"clicks", Kind::atomic);
    REQUIRE(first.outcome == Opened::found);
    CHECK(first.entry == second.entry);
    CHECK(open(test.arena, one, u"click", Kind::atomic).entry != first.entry);
    CHECK(open(test.arena, one, u"Clicks", Kind::atomic).entry != first.entry);
}

TEST_CASE("an existing name keeps its kind", "[sync]") {
    TestArena test;
    Agent& agent = *enter(test.arena);
    const auto made = open(test.arena, agent, u"x", Kind::striped);
    const auto found = open(test.arena, agent, u"x", Kind::mutex);
    CHECK(found.entry == made.entry);
    CHECK(test.arena.at<Entry>(found.entry)->kind == Kind::striped);
}

TEST_CASE("objects lie on lines of their own", "[sync]") {
    TestArena test;
    Agent& agent = *enter(test.arena);
    std::set<Offset> lines;
    for (char16_t letter = u'a'; letter <= u'z'; ++letter) {
        const auto opened = open(test.arena, agent, {&letter, 1}, Kind::atomic);
        const Offset object = test.arena.at<Entry>(opened.entry)->object;
        CHECK(object % line_bytes == 0);
        CHECK(lines.insert(object).second);
    }
}

TEST_CASE("threads that open the same names at once get the same objects", "[sync]") {
    constexpr std::uint32_t threads = 4;
    for (int round = 0; round < 100; ++round) {
        TestArena test;
        std::vector<std::vector<Offset>> seen(threads);
        on_threads(threads, [&](std::uint32_t index) {
            Agent& agent = *enter(test.arena);
            for (char16_t letter = u'a'; letter <= u'z'; ++letter) {
                seen[index].push_back(open(test.arena, agent, {&letter, 1}, Kind::atomic).entry);
            }
        });
        for (std::uint32_t index = 1; index < threads; ++index) CHECK(seen[index] == seen[0]);
    }
}

TEST_CASE("an arena that is full says so, keeps what it has, and takes what still fits", "[sync]") {
    TestArena test(16 * 1024);
    Agent& agent = *enter(test.arena);
    OpenResult last{};
    char16_t letter = u'a';
    for (;
         (last = open(test.arena, agent, {&letter, 1}, Kind::striped)).outcome == Opened::found;) {
        ++letter;
    }
    CHECK(last.outcome == Opened::full);
    CHECK(letter > u'a');
    CHECK(open(test.arena, agent, u"a", Kind::striped).outcome == Opened::found);
    CHECK(open(test.arena, agent, u"small", Kind::atomic).outcome == Opened::found);
}

TEST_CASE("names do not use up the memory of threads, and threads not that of names", "[sync]") {
    constexpr std::uint32_t agents = 4;
    TestArena test(16 * 1024, agents);
    Agent& agent = *enter(test.arena);
    char16_t letter = u'a';
    while (open(test.arena, agent, {&letter, 1}, Kind::atomic).outcome == Opened::found) ++letter;
    for (std::uint32_t i = 1; i < agents; ++i) {
        Agent* other = enter(test.arena);
        REQUIRE(other != nullptr);
        other->name.fill(u'x');
        other->stack.fill(std::byte{0xff});
    }
    CHECK(enter(test.arena) == nullptr);
    CHECK(open(test.arena, agent, u"a", Kind::atomic).outcome == Opened::found);
    CHECK(open(test.arena, agent, u"?", Kind::atomic).outcome == Opened::full);

    TestArena crowd(16 * 1024, agents);
    for (std::uint32_t i = 1; i < agents; ++i) REQUIRE(enter(crowd.arena) != nullptr);
    Agent& last = *enter(crowd.arena);
    for (char16_t name = u'a'; name < letter; ++name) {
        CHECK(open(crowd.arena, last, {&name, 1}, Kind::atomic).outcome == Opened::found);
    }
}

TEST_CASE("the blocks of agents are used again, and their ids are not", "[sync]") {
    TestArena test(sizeof(Arena), 1);
    std::set<Owner> ids;
    for (int i = 0; i < 100; ++i) {
        Agent* agent = enter(test.arena);
        REQUIRE(agent != nullptr);
        CHECK(ids.insert(agent->id).second);
        test.arena.report_death(agent->id, agent->id);
    }
    REQUIRE(enter(test.arena) != nullptr);
    CHECK(enter(test.arena) == nullptr);
}

TEST_CASE("a death reaches all objects by their names, and the registry itself", "[sync]") {
    TestArena test;
    Agent& dead = *enter(test.arena);
    Agent& heir = *enter(test.arena);
    const auto opened = open(test.arena, dead, u"m", Kind::mutex);
    auto& mutex = *test.arena.at<Mutex>(test.arena.at<Entry>(opened.entry)->object);
    const Owner id = dead.id;
    test.arena.report_death(0, heir.id);
    CHECK_FALSE(mutex.locked());
    mutex.lock(id);
    test.arena.report_death(id, heir.id);
    CHECK(mutex.try_lock(heir.id) == LockResult::owner_died);
    CHECK(dead.id == 0);
    CHECK(enter(test.arena) == &dead);
}

TEST_CASE("a thread that dies as it enters or leaves shows whose block it had", "[sync]") {
    TestArena test(sizeof(Arena), 1);
    Agent& agent = *enter(test.arena);
    const std::uint32_t claim = agent.claim;
    agent.id = 0;  // it has died before it has stored its id, or after it has cleared it
    CHECK(enter(test.arena) == nullptr);
    test.arena.report_exit(agent, 9);
    CHECK(agent.claim == 0);
    Agent* next = enter(test.arena);
    REQUIRE(next == &agent);
    CHECK(next->claim != claim);
    test.arena.report_exit(agent, 9);
    CHECK(agent.id == 0);
    CHECK(enter(test.arena) == &agent);
}

TEST_CASE("threads that join and die at once get a block each", "[sync]") {
    constexpr std::uint32_t threads = 4;
    TestArena test(sizeof(ArenaMemory) / 2, threads);
    std::atomic<std::uint32_t> refused{0};
    on_threads(threads, [&](std::uint32_t) {
        for (int i = 0; i < 2'000; ++i) {
            Agent* agent = enter(test.arena);
            if (agent == nullptr) {
                refused.fetch_add(1);
                continue;
            }
            test.arena.report_death(agent->id, agent->id);
        }
    });
    CHECK(refused.load() == 0);
    for (std::uint32_t i = 0; i < threads; ++i) CHECK(enter(test.arena) != nullptr);
}
