// The order of locks over tabs: the tab that asks first is served first, whatever the tabs hold,
// wait for or give up.
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "lock_order_scene.hpp"
#include "protocol/lock/queue/hand_over.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using Failures = std::vector<std::string>;
using RequestPtr = LockPage::RequestPtr;

/// Tabs that ask for the lock again as soon as they have released it.
struct LoopScene : LockScene {
    explicit LoopScene(std::uint64_t seed, std::size_t tabs) : LockScene(seed) {
        for (std::size_t i = 0; i < tabs; ++i) open();
    }
    Task<void> ask_again(std::size_t tab, int times) {
        for (int i = 0; i < times; ++i) {
            const auto held = co_await members[tab].page->table().acquire("l", {});
            CHECK(*held.token() > newest);
            newest = *held.token();
            grants.push_back(tab);
        }
        ++ended;
    }
    void start(int times) {
        for (std::size_t i = 0; i < members.size(); ++i) {
            members[i].page->scope().spawn(ask_again(i, times));
        }
    }
    /// Returns the most grants that one tab got one after another while all tabs asked.
    [[nodiscard]] std::uint64_t largest_share(int times) const {
        std::vector<int> counts(members.size());
        std::uint64_t share = 0;
        std::uint64_t largest = 0;
        for (std::size_t i = 0; i < grants.size(); ++i) {
            share = i > 0 && grants[i] == grants[i - 1] ? share + 1 : 1;
            const bool all_came =
                std::ranges::none_of(counts, [](int count) { return count == 0; });
            if (all_came) largest = std::max(largest, share);
            if (++counts[grants[i]] == times) break;
        }
        return largest;
    }

    std::vector<std::size_t> grants;
    std::int64_t newest = 0;  // token
    std::size_t ended = 0;
};

/// Releases one request after another, and checks that each release grants the next one.
void check_turns(LockOrderScene& queue, const std::vector<RequestPtr>& turns) {
    for (std::size_t i = 1; i < turns.size(); ++i) {
        queue.release(turns[i - 1]);
        CHECK(holds(turns[i]));
    }
}

}  // namespace

TEST_CASE("lock: a reader of another tab waits for a writer whose tab already reads") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto first = queue.ask(0, to_read);
        const auto writer = queue.ask(0);
        const auto later = queue.ask(1, to_read);
        const auto in_vain = queue.ask(2, {.mode = LockMode::shared, .if_available = true});
        CHECK(waits(later));
        CHECK(in_vain->unavailable);
        queue.release(first);
        CHECK(holds(writer));
        queue.release(writer);
        CHECK(holds(later));
        later->let_go.complete({});
        queue.origin.run();
        CHECK(queue.judge.failures == Failures{});
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: a reader waits for all earlier requests of another tab, however many") {
    LockOrderScene queue;
    const auto first = queue.ask(0);
    for (int i = 0; i < 600; ++i) queue.members[0].page->count({}, 0);
    queue.settle();
    const auto reader = queue.ask(1, to_read);
    first->let_go.complete({});
    queue.until([&] { return reader->granted; });
    CHECK(queue.judge.order.size() == 602);
    reader->let_go.complete({});
    queue.origin.run();
    CHECK(queue.judge.failures == Failures{});
}

TEST_CASE("lock: a reader behind its own tab's writer comes before a later request") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto first = queue.ask(0);
        const auto reader = queue.ask(0, to_read);
        const auto later = queue.ask(2);
        queue.release(first);
        CHECK(holds(reader));
        CHECK(waits(later));
        queue.release(reader);
        CHECK(holds(later));
        later->let_go.complete({});
        queue.origin.run();
        CHECK(queue.judge.failures == Failures{});
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: tabs that ask again and again get the lock in shares of a bounded size") {
    constexpr int times = 400;  // more than the tokens with which the first tab begins
    for (std::uint64_t seed = 0; seed < few_seeds / 4; ++seed) {
        CAPTURE(seed);
        LoopScene scene(seed, 3);
        scene.start(times);
        scene.until([&] { return scene.ended == 3; });
        CHECK(scene.largest_share(times) <= barging_grants_max);
    }
}

TEST_CASE("lock: tabs that ask again and again go on when one is killed or frozen in its share") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LoopScene scene(seed, 3);
        scene.start(100);
        scene.steps(scene.random.below(400));
        auto& tab = *scene.members[scene.random.below(3)].tab;
        if (seed % 2 == 0) {
            scene.origin.kill(tab);
            scene.origin.run();
            CHECK(scene.ended >= 2);
        } else {
            scene.origin.freeze(tab);
            scene.steps(200);
            scene.origin.thaw(tab);
            scene.origin.run();
            CHECK(scene.ended == 3);
        }
    }
}

TEST_CASE(
    "lock: a tab that begins to hold takes positions behind requests that it did not receive") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto first = queue.ask(0);
        const auto reader = queue.ask(1, to_read);
        const auto writer = queue.ask(1);
        const auto between = queue.members[0].page->hold();
        queue.release(first);
        CHECK(holds(reader));
        const auto behind = queue.ask(1);
        const auto last_reader = queue.ask(1, to_read);
        const auto later = queue.ask(0);
        check_turns(queue, {reader, writer, between, behind});
        queue.release(behind);
        CHECK(holds(last_reader));
        CHECK(waits(later));
        queue.release(last_reader);
        later->let_go.complete({});
        queue.origin.run();
        CHECK(queue.judge.failures == Failures{});
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: a request does not inherit a position from before a tab that was not received") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(0);
        const auto next = queue.ask(2);
        const auto writer = queue.ask(1);
        const AbortSignal signal;
        queue.ask_until(signal, 1);
        const auto between = queue.ask(0);
        const auto later = queue.members[1].page->hold();
        queue.give_up(signal);
        check_turns(queue, {holder, next, writer, between, later});
        later->let_go.complete({});
        queue.origin.run();
        CHECK(queue.judge.failures == Failures{});
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: two tabs that ask by turns are served by turns, however often they ask") {
    LockOrderScene queue(1, 2);
    const auto first = queue.ask(0);
    auto expected = queue.judge.order;
    for (int asked = 0; asked < 40; ++asked) {
        queue.members[asked % 2 == 0 ? 1 : 0].page->count({}, 1, 1);
        expected.push_back(queue.last_request);
        queue.settle(30);
    }
    first->let_go.complete({});
    queue.origin.run();
    CHECK(queue.judge.order == expected);
}

TEST_CASE(
    "lock: an ifAvailable request does not wait if the request before it in its tab gives up") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(1);
        const AbortSignal signal;
        const auto gives_up = queue.ask_until(signal, 0);
        const bool no_time = seed % 2 == 0;
        const LockOptions hurried =
            no_time ? LockOptions{.timeout_ms = 0} : LockOptions{.if_available = true};
        const auto in_vain = queue.ask(0, hurried, 5);
        queue.give_up(signal);
        CHECK(gives_up->error == ErrorCode::aborted);
        CHECK(in_vain->ended);
        if (no_time) {
            CHECK(in_vain->error == ErrorCode::timed_out);
        } else {
            CHECK(in_vain->unavailable);
        }
        queue.release(holder);
        queue.origin.run();
        CHECK_FALSE(in_vain->granted);
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: an ifAvailable request takes no position from its tab's next request") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(1);
        const AbortSignal signal;
        const auto gives_up = queue.ask_until(signal, 0);
        const auto between = queue.ask(2);
        const auto in_vain = queue.members[0].page->hold({.if_available = true});
        const auto next = queue.ask(0, {}, 5);
        queue.give_up(signal);
        CHECK(in_vain->unavailable);
        const auto last = queue.ask(2);
        queue.release(holder);
        CHECK(holds(between));
        queue.release(between);
        CHECK(holds(next));
        CHECK(waits(last));
        queue.release(next);
        CHECK(holds(last));
        last->let_go.complete({});
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE(
    "lock: a request after another tab's does not inherit the position that its tab gives up") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(2, to_read);
        const AbortSignal signal;
        queue.ask_until(signal, 0);
        const auto reader = queue.ask(1, to_read);
        const auto writer = queue.ask(0);
        queue.give_up(signal);
        CHECK(holds(reader));
        CHECK(waits(writer));
        queue.release(holder);
        queue.release(reader);
        CHECK(holds(writer));
        writer->let_go.complete({});
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: after a position is given up, its tab's next request takes one") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(0);
        const auto between = queue.ask(1);
        const AbortSignal signal;
        queue.ask_until(signal, 0);
        queue.give_up(signal);
        const auto next = queue.ask(0);
        const auto last = queue.ask(2);
        queue.release(holder);
        CHECK(holds(between));
        queue.release(between);
        CHECK(holds(next));
        CHECK(waits(last));
        queue.release(next);
        last->let_go.complete({});
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: a reader waits for the next writer, although the writer's tab still reads") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto reader = queue.ask(0, to_read);
        const auto other = queue.ask(2, to_read);
        const AbortSignal signal;
        queue.ask_until(signal, 1);
        const auto writer = queue.ask(0);
        queue.give_up(signal);
        const auto later = queue.ask(2, to_read, 200);
        CHECK(waits(later));
        queue.release(reader);
        queue.release(other);
        CHECK(holds(writer));
        queue.release(writer);
        CHECK(holds(later));
        later->let_go.complete({});
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: a reader's position beside another tab's overtakes no writer that asked before") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(0);
        const auto writer = queue.ask(0);
        const auto between = queue.ask(1, to_read);
        const auto last = queue.ask(0, to_read);
        queue.release(holder);
        CHECK(holds(writer));
        CHECK(waits(between));
        queue.release(writer);
        CHECK(holds(between));
        CHECK(holds(last));
        for (const auto& request : {between, last}) request->let_go.complete({});
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: after two tabs steal at once, the previous holder sees that the lock is held") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        queue.judge.lenient = true;
        for (const std::size_t tab : {0U, 1U, 2U}) queue.release(queue.ask(tab));
        std::vector<RequestPtr> stealers;
        for (const std::size_t tab : {0U, 1U}) {
            stealers.push_back(queue.members[tab].page->hold({.steal = true}));
            queue.steps(queue.random.below(20));
        }
        queue.settle(200);
        for (const auto& stealer : stealers) queue.release(stealer);
        const auto holder = queue.ask(2, to_read);
        REQUIRE(holder->granted);
        for (const std::size_t tab : {0U, 1U}) CHECK(queue.is_locked(tab));
        queue.release(holder);
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: a steal under way ends with its tab, and keeps no other tab from the lock") {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        queue.judge.lenient = true;
        const auto holder = queue.ask(0);
        const auto stealer = queue.members[1].page->hold({.steal = true});
        queue.steps(queue.random.below(30));
        const bool granted = stealer->granted;
        queue.members[1].page->table().close();
        queue.settle(500);
        if (!granted) CHECK(stealer->error == ErrorCode::closed);
        const auto later = queue.ask(2, {}, 3'000);
        REQUIRE(!queue.judge.inside.empty());
        CHECK((holds(later) || queue.judge.inside.front().request == 1));
        for (const auto& request : {holder, stealer, later}) queue.release(request);
        queue.origin.run();
        CHECK(queue.nothing_left());
    }
}

TEST_CASE("lock: a tab that lives and serves its own queue is not evicted as a hung one") {
    LockOrderScene queue;
    std::vector<RequestPtr> own(8);
    for (auto& request : own) request = queue.ask(0, {.max_hold_ms = 500}, 5);
    queue.ask(1, {.max_hold_ms = 500}, 5);
    for (const auto& request : own) {
        queue.settle(300);
        CHECK(request->granted);
        CHECK(request->loss.empty());
        request->let_go.complete({});
    }
    CHECK(queue.members[1].page->notices.empty());
}

TEST_CASE("lock: isLocked() sees another tab's reader, even beside a writer that does not wait") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        queue.release(queue.ask(0));
        const auto reader = queue.ask(1, to_read);
        queue.members[0].page->hold({.if_available = true});
        queue.steps(seed % 30);
        CHECK(queue.is_locked(0));
        CHECK(holds(reader));
    }
}

}  // namespace tabacus::test
