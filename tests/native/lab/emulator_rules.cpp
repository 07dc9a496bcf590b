// The rules of an emulated origin: which events step() lets happen, and in which order.
#include <catch2/catch_test_macros.hpp>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "lab/emulator/emulated_origin.hpp"
#include "lab/report/sequence_diagram.hpp"

namespace {

using namespace tabacus;
using namespace tabacus::lab;
using Kind = OriginEvent::Kind;

/// Two tabs, each a process of its own.
struct Tabs {
    explicit Tabs(StorageModel model = StorageModel::cached) : origin({.storage = model}) {
        for (int i = 0; i < 2; ++i) {
            agents.push_back(origin.open_agent(origin.open_process()));
            contexts.push_back(origin.open_context(agents.back(), origin.open_session(0)));
        }
    }
    [[nodiscard]] std::string read(std::size_t tab, const std::string& key) {
        const auto& values = origin.values(contexts.at(tab), 0);
        const auto found = values.find(key);
        return found == values.end() ? "nothing" : found->second;
    }
    /// Steps until nothing can happen. Returns the events that tabs see. With `may_wait` time
    /// passes too.
    std::vector<OriginEvent> run(bool may_wait = true) {
        std::vector<OriginEvent> events;
        while (origin.step(may_wait).kind != Kind::nothing) {
            if (origin.event().kind != Kind::unseen) events.push_back(origin.event());
        }
        return events;
    }

    EmulatedOrigin origin;
    std::vector<TabId> agents;
    std::vector<ContextId> contexts;
};

std::vector<Kind> kinds(const std::vector<OriginEvent>& events) {
    std::vector<Kind> found;
    found.reserve(events.size());
    for (const auto& one : events) found.push_back(one.kind);
    return found;
}

}  // namespace

TEST_CASE("an event goes to every other document, once its process has the write (HTML 12.2.1)") {
    for (const auto model : {StorageModel::cached, StorageModel::mutexed}) {
        Tabs tabs(model);
        const auto frame = tabs.origin.open_context(tabs.agents[0], 1);
        const auto worker = tabs.origin.open_context(tabs.agents[1], 0);
        tabs.origin.set_item(tabs.contexts[0], 0, "k", "v");
        CHECK(tabs.read(0, "k") == "v");
        CHECK((tabs.read(1, "k") == "v") == (model == StorageModel::mutexed));
        std::set<ContextId> receivers;
        for (const auto& one : tabs.run()) {
            REQUIRE(one.kind == Kind::changed);
            CHECK(one.from == tabs.contexts[0]);
            CHECK(one.change.new_value == "v");
            receivers.insert(one.context);
        }
        CHECK(receivers == std::set<ContextId>{tabs.contexts[1], frame});
        CHECK(!receivers.contains(worker));
        tabs.origin.set_item(tabs.contexts[1], 0, "k", "v");
        CHECK(tabs.run().empty());
    }
}

TEST_CASE(
    "a tab shares its session with its frames, and an opened tab copies it once (HTML 12.2.2)") {
    Tabs tabs;
    const auto frame = tabs.origin.open_context(tabs.agents[0], 1);
    tabs.origin.set_item(tabs.contexts[0], 1, "k", "v");
    const auto copied = tabs.origin.open_session(1);
    const auto events = tabs.run();
    REQUIRE(events.size() == 1);
    CHECK(events[0].context == frame);
    CHECK(events[0].area == 1);
    const auto opened = tabs.origin.open_context(tabs.agents[1], copied);
    tabs.origin.set_item(tabs.contexts[0], 1, "k", "later");
    CHECK(tabs.origin.values(opened, copied).at("k") == "v");
}

TEST_CASE("a full storage refuses a value and keeps the old one; sessions have the same quota") {
    Tabs tabs;
    tabs.origin.set_quota(5);
    tabs.origin.set_item(tabs.contexts[0], 0, "k", "old");
    for (const AreaId area : {0U, 1U}) {
        CHECK_THROWS_AS(tabs.origin.set_item(tabs.contexts[0], area, "k", "value"), Error);
    }
    CHECK(tabs.read(0, "k") == "old");
}

TEST_CASE(
    "a lock's requests and answers are events; the promise follows the release (Web Locks 4)") {
    Tabs tabs;
    tabs.origin.request_lock(tabs.contexts[0], 1, {.name = "l"});
    tabs.origin.request_lock(tabs.contexts[1], 1, {.name = "l"});
    tabs.origin.query_locks(tabs.contexts[1], 2);
    auto events = tabs.run();
    CHECK(kinds(events) == std::vector{Kind::granted, Kind::snapshot});
    CHECK(events[1].locks.held.size() == 1);
    CHECK(events[1].locks.pending.size() == 1);
    tabs.origin.release_lock(tabs.contexts[0], 1);
    events = tabs.run();
    CHECK(std::set{events[0].kind, events[1].kind} == std::set{Kind::granted, Kind::released});
    tabs.origin.request_lock(tabs.contexts[0], 2, {.name = "l", .if_available = true});
    tabs.origin.request_lock(tabs.contexts[0], 3, {.name = "l", .steal = true});
    events = tabs.run();
    REQUIRE(events.size() == 3);
    CHECK(events[0].kind == Kind::unavailable);
    CHECK(std::set{events[1].kind, events[2].kind} == std::set{Kind::granted, Kind::stolen});
}

TEST_CASE(
    "a holder's promise is settled before the next holder of its tab begins (Web Locks 4.2)") {
    Tabs tabs;
    tabs.origin.request_lock(tabs.contexts[0], 1, {.name = "l"});
    tabs.origin.request_lock(tabs.contexts[0], 2, {.name = "l"});
    tabs.run();
    tabs.origin.release_lock(tabs.contexts[0], 1);
    CHECK(kinds(tabs.run()) == std::vector{Kind::released, Kind::granted});
}

TEST_CASE(
    "an abort is reported once the request is gone, but not after the grant (Web Locks 4.3)") {
    Tabs tabs;
    tabs.origin.request_lock(tabs.contexts[0], 1, {.name = "l"});
    tabs.origin.request_lock(tabs.contexts[1], 1, {.name = "l"});
    tabs.run();
    tabs.origin.abort_lock(tabs.contexts[0], 1);
    CHECK(tabs.run().empty());
    tabs.origin.abort_lock(tabs.contexts[1], 1);
    const auto events = tabs.run();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == Kind::released);
    CHECK(events[0].context == tabs.contexts[1]);
}

TEST_CASE("a killed tab holds nothing, requests nothing and receives nothing (Web Locks 2.6)") {
    Tabs tabs;
    const auto mine = tabs.origin.open_channel(tabs.contexts[0], "n");
    const auto theirs = tabs.origin.open_channel(tabs.contexts[1], "n");
    tabs.origin.request_lock(tabs.contexts[0], 1, {.name = "l"});
    tabs.origin.request_lock(tabs.contexts[1], 1, {.name = "l"});
    tabs.run();
    tabs.origin.start_timer(tabs.contexts[0], {.delay_ms = 5});
    tabs.origin.post(tabs.contexts[1], theirs, 1);
    tabs.origin.set_item(tabs.contexts[0], 0, "k", "lost");
    tabs.origin.kill(tabs.agents[0], 0);
    const auto events = tabs.run();
    REQUIRE(events.size() == 1);
    CHECK(events[0].kind == Kind::granted);
    CHECK(tabs.read(1, "k") == "nothing");
    CHECK(tabs.origin.post(tabs.contexts[1], theirs, 2) == 0);
    CHECK(mine != theirs);
}

TEST_CASE("a killed process's first writes arrive, as many as are kept") {
    Tabs tabs;
    for (const auto* value : {"1", "2", "3"}) {
        tabs.origin.set_item(tabs.contexts[0], 0, "k", value);
    }
    CHECK(tabs.origin.writes_under_way(tabs.agents[0]) == 3);
    tabs.origin.kill(tabs.agents[0], 2);
    tabs.run();
    CHECK(tabs.read(1, "k") == "2");
}

TEST_CASE("all tabs agree in the end if data is cleared or corrupted while a write is under way") {
    for (const bool wiped : {true, false}) {
        for (const std::size_t steps : {0U, 1U, 2U, 3U, 4U}) {
            Tabs tabs;
            tabs.origin.set_item(tabs.contexts[0], 0, "k", "old");
            tabs.run();
            tabs.origin.set_item(tabs.contexts[0], 0, "k", "1");
            tabs.origin.set_item(tabs.contexts[1], 0, "k", "2");
            for (std::size_t i = 0; i < steps; ++i) tabs.origin.step(true);
            if (wiped) {
                tabs.origin.wipe();
            } else {
                tabs.origin.overwrite("k", "nonsense");
            }
            tabs.run();
            const auto opened = tabs.origin.open_context(
                tabs.origin.open_agent(tabs.origin.open_process()), tabs.origin.open_session(0));
            tabs.contexts.push_back(opened);
            CHECK(tabs.read(0, "k") == tabs.read(2, "k"));
            CHECK(tabs.read(1, "k") == tabs.read(2, "k"));
            CHECK(tabs.read(2, "k") == (wiped ? "nothing" : "nonsense"));
        }
    }
}

TEST_CASE("a frozen tab receives messages later, and a cached page never does (HTML 9.5)") {
    Tabs tabs;
    const auto mine = tabs.origin.open_channel(tabs.contexts[0], "n");
    tabs.origin.open_channel(tabs.contexts[1], "n");
    tabs.origin.set_active(tabs.agents[1], false);
    CHECK(tabs.origin.post(tabs.contexts[0], mine, 1) == 1);
    CHECK(tabs.run().empty());
    tabs.origin.set_active(tabs.agents[1], true);
    CHECK(tabs.run().size() == 1);
    CHECK(tabs.origin.set_cached(tabs.agents[1], true));
    CHECK(tabs.origin.post(tabs.contexts[0], mine, 2) == 0);
    tabs.origin.set_cached(tabs.agents[1], false);
    CHECK(tabs.run().empty());
}

TEST_CASE("a page that holds a lock is not kept in the back/forward cache") {
    Tabs tabs;
    tabs.origin.request_lock(tabs.contexts[0], 1, {.name = "l"});
    CHECK_FALSE(tabs.origin.set_cached(tabs.agents[0], true));
    tabs.origin.release_lock(tabs.contexts[0], 1);
    CHECK(tabs.origin.set_cached(tabs.agents[0], true));
}

TEST_CASE("the default schedule takes the oldest event; time passes when nothing else can happen") {
    Tabs tabs;
    tabs.origin.start_timer(tabs.contexts[0], {.delay_ms = 0});
    const auto cancelled = tabs.origin.start_timer(tabs.contexts[0], {.delay_ms = 1});
    tabs.origin.start_timer(tabs.contexts[1], {.delay_ms = 1});
    tabs.origin.cancel_timer(cancelled);
    tabs.origin.post_task(tabs.contexts[1], Source::Kind::message, 7, 1);
    tabs.origin.post_task(tabs.contexts[0], Source::Kind::script, 0, 2);
    const auto tasks = tabs.run(false);
    CHECK(kinds(tasks) == std::vector{Kind::task, Kind::task});
    CHECK(tasks.at(0).number == 1);
    const auto before = tabs.origin.now_ms();
    CHECK(kinds(tabs.run()) == std::vector{Kind::timer, Kind::timer});
    CHECK(tabs.origin.now_ms() == before + 1);
}

TEST_CASE("equal seeds make equal runs, and the choices that a run took replay it") {
    const auto hash_of = [](auto choose) {
        Tabs tabs;
        choose(tabs.origin);
        tabs.origin.offer_faults(2);
        for (std::uint32_t i = 1; i <= 4; ++i) {
            tabs.origin.set_item(tabs.contexts[i % 2], 0, "k", std::to_string(i));
            tabs.origin.request_lock(tabs.contexts[i % 2], i, {.name = "l"});
            tabs.origin.start_timer(tabs.contexts[i % 2], {.delay_ms = static_cast<double>(i)});
        }
        tabs.run();
        return std::pair(tabs.origin.hash(), tabs.origin.taken());
    };
    const auto by_seed = [&](std::uint64_t seed) {
        return hash_of([seed](EmulatedOrigin& origin) {
            origin.run_by_seed(seed, {.faults_max = 1, .length = 20}, true);
        });
    };
    std::set<std::uint64_t> hashes;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const auto [hash, taken] = by_seed(seed);
        CHECK(by_seed(seed).first == hash);
        CHECK(hash_of([&](EmulatedOrigin& origin) { origin.run_by(taken); }).first == hash);
        hashes.insert(hash);
    }
    CHECK(hashes.size() > 10);
}

TEST_CASE("a traced run has a line for each thing that a tab does, and none for what no tab sees") {
    Tabs tabs;
    tabs.origin.trace().set(true);
    tabs.origin.set_item(tabs.contexts[0], 0, "k", "v");
    tabs.origin.trace().add({tabs.agents[1], Object::faults, "dies"});
    tabs.run();
    const auto trace = tabs.origin.trace().trace("wrong");
    CHECK(trace.failure == "wrong");
    std::vector<std::string> texts;
    for (const auto& step : trace.steps) {
        for (const auto& line : step.lines) texts.push_back(line.text);
    }
    CHECK(texts == std::vector<std::string>{"writes k = v", "dies", "its k = v goes out",
                                            "receives k = v", "is notified of k = v"});
    CHECK(trace.steps[1].fault);
}

TEST_CASE("a traced run shows a frame's lock as its tab's") {
    Tabs tabs;
    tabs.origin.trace().set(true);
    const auto frame = tabs.origin.open_context(tabs.agents[0], 1);
    tabs.origin.request_lock(frame, 1, {.name = "l"});
    tabs.run();
    const auto trace = tabs.origin.trace().trace("wrong");
    std::set<std::uint32_t> traced;
    for (const auto& step : trace.steps) {
        for (const auto& line : step.lines) traced.insert(line.tab);
    }
    CHECK(traced == std::set<std::uint32_t>{tabs.agents[0]});
}

TEST_CASE("the timer window bounds how far a timer overtakes the oldest event that can happen") {
    // Returns whether time passes while a task waits, and another one of long ago: that of a tab
    // which may be frozen.
    const auto overtakes = [](double delay_ms, double window_ms, bool frozen = true) {
        Tabs tabs;
        tabs.origin.run_by({0, 0, 1});
        tabs.origin.set_timer_window(window_ms);
        tabs.origin.set_active(tabs.agents[1], false);
        tabs.origin.post_task(tabs.contexts[1], Source::Kind::message, 7, 1);
        tabs.origin.start_timer(tabs.contexts[0], {.delay_ms = 60'000});
        tabs.origin.step(true);
        CHECK(tabs.origin.step(true).kind == Kind::timer);
        tabs.origin.set_active(tabs.agents[1], !frozen);
        tabs.origin.post_task(tabs.contexts[0], Source::Kind::script, 0, 2);
        tabs.origin.start_timer(tabs.contexts[0], {.delay_ms = delay_ms});
        const auto before = tabs.origin.now_ms();
        tabs.origin.step(true);
        return tabs.origin.now_ms() > before;
    };
    CHECK(overtakes(1000, 1000));
    CHECK_FALSE(overtakes(1001, 1000));
    CHECK_FALSE(overtakes(1, 0));
    CHECK(overtakes(1e9, std::numeric_limits<double>::infinity()));
    CHECK_FALSE(overtakes(1, 1000, false));
}

TEST_CASE("a long chain of events at one time counts as if time passed") {
    Tabs tabs;
    tabs.origin.run_by_seed(1, {.faults_max = 0, .length = 100}, true);
    tabs.origin.set_timer_window(1000);
    tabs.origin.start_timer(tabs.contexts[0], {.delay_ms = 1050});
    std::size_t links = 0;
    for (const auto before = tabs.origin.now_ms(); tabs.origin.now_ms() == before; ++links) {
        REQUIRE(links < 1000);
        tabs.origin.post_task(tabs.contexts[0], Source::Kind::script, 0, 1);
        tabs.origin.step(true);
    }
    CHECK(links >= 150);
}

TEST_CASE("a trace names a requested lock, a refused one's holder, and writes that no tab saw") {
    Tabs tabs;
    tabs.origin.trace().set(true);
    tabs.origin.trace().name(tabs.agents[1], "the other tab");
    tabs.origin.trace().set_place("basket.js:12");
    tabs.origin.request_lock(tabs.contexts[0], 1, {.name = "l"});
    tabs.run();
    tabs.origin.request_lock(tabs.contexts[1], 1,
                             {.name = "l", .mode = LockMode::shared, .if_available = true});
    tabs.origin.request_lock(tabs.contexts[1], 2, {.name = "l"});
    tabs.run();
    tabs.origin.trace_waiting_requests();
    tabs.origin.set_item(tabs.contexts[1], 0, "k", "v");
    const auto unseen = tabs.origin.unseen_write(tabs.contexts[0], "k");
    REQUIRE(unseen);
    CHECK(unseen->writer == tabs.agents[1]);
    CHECK(unseen->value == "v");
    CHECK_FALSE(tabs.origin.unseen_write(tabs.contexts[1], "k"));
    CHECK_FALSE(tabs.origin.unseen_write(tabs.contexts[0], "other"));
    tabs.origin.kill(tabs.agents[1], 0);
    CHECK_FALSE(tabs.origin.unseen_write(tabs.contexts[0], "k"));
    CHECK(story_text(tabs.origin.trace().trace("wrong")) ==
          "tab 1 asks for the lock l, exclusive (basket.js:12)\n"
          "tab 1 is granted the lock l\n"
          "the other tab asks for the lock l, shared, with ifAvailable\n"
          "the other tab is refused the lock l, which tab 1 holds\n"
          "the other tab asks for the lock l, exclusive\n"
          "the other tab waits for the lock l, which tab 1 holds\n"
          "the other tab writes k = v\n"
          "the other tab loses its write k = v, which has not left its process\n"
          "the run fails: wrong\n");
}
