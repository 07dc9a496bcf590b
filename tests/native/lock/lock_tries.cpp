// Requests that do not wait (`ifAvailable`, a timeout of 0), beside requests that do.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <deque>

#include "lock_order_scene.hpp"

namespace tabacus::test {
namespace {

const LockOptions tries{.if_available = true};

/// Lets a tab without a channel hold the lock, so that no tab answers a request.
LockPage::RequestPtr hold_silently(LockOrderScene& queue) {
    const auto silent = queue.open({.channels = false});
    const auto holder = silent.page->hold();
    queue.settle();
    return holder;
}

}  // namespace

TEST_CASE("lock: an ifAvailable request is answered by the holder, without waiting for timers") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = queue.ask(1);
        CHECK(queue.ask(0, tries, 1)->unavailable);
        CHECK(queue.ask(0, {.timeout_ms = 0}, 1)->error == ErrorCode::timed_out);
        CHECK(holds(holder));
    }
}

TEST_CASE("lock: an ifAvailable request is answered by a holder that stole the lock") {
    LockOrderScene queue;
    const auto holder = queue.ask(1, {.steal = true});
    CHECK(queue.ask(0, tries, 1)->unavailable);
    CHECK(holds(holder));
}

TEST_CASE("lock: a request behind an ifAvailable one is not overtaken meanwhile") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = hold_silently(queue);
        const auto hurried = queue.members[0].page->hold(tries);
        if (seed % 2 == 0) queue.settle(2);
        const auto next = queue.ask(0, {}, 4);
        const auto later = queue.ask(2);
        CHECK(hurried->unavailable);
        queue.release(holder);
        CHECK(holds(next));
        CHECK(waits(later));
    }
}

TEST_CASE("lock: a request behind one whose timeout is over is not overtaken") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = hold_silently(queue);
        const auto expired = queue.ask(0, {.timeout_ms = 10}, 12);
        const bool same_mode = seed % 2 == 0;
        const auto next = queue.ask(0, same_mode ? LockOptions{} : to_read, 4);
        const auto later = queue.ask(2);
        CHECK(expired->error == ErrorCode::timed_out);
        queue.release(holder);
        CHECK(holds(next));
        CHECK(waits(later));
    }
}

TEST_CASE("lock: a request behind one that gave up queues anew behind an ifAvailable one") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto holder = hold_silently(queue);
        const AbortSignal signal;
        queue.ask_until(signal, 0);
        const auto hurried = queue.members[0].page->hold(tries);
        const auto next = queue.members[0].page->hold();
        signal.abort();
        queue.settle(4);
        const auto later = queue.ask(2);
        CHECK(hurried->unavailable);
        queue.release(holder);
        CHECK(holds(next));
        CHECK(waits(later));
    }
}

TEST_CASE(
    "lock: a tab that tries again and again keeps no reader waiting beside its tab's reader") {
    LockOrderScene queue;
    const auto reader = queue.ask(0, to_read);
    // By its clock tab 1 asks first, but its message comes later.
    queue.members[1].tab->set_wall_clock(-5);
    queue.members[1].page->hold(tries);
    const auto second = queue.members[0].page->hold(to_read);
    for (int i = 0; i < 20; ++i) queue.ask(1, tries, 10);
    CHECK(holds(second));
    CHECK(holds(reader));
}

TEST_CASE(
    "lock: a tab that tried a thousand times is served in its turn, whatever else others lock") {
    LockOrderScene queue;
    const auto holder = hold_silently(queue);
    queue.members[0].page->count({}, 0);
    std::vector<int> expected = queue.judge.order;
    expected.push_back(queue.last_request);
    for (int i = 0; i < 1'001; ++i) {
        const auto other = queue.members[0].page->hold({}, "m");
        queue.ask(1, tries, 25);
        other->let_go.complete({});
    }
    for (const std::size_t tab : {0U, 1U, 0U}) {
        queue.members[tab].page->count({}, 0);
        expected.push_back(queue.last_request);
        queue.settle();
    }
    queue.release(holder);
    queue.settle(500);
    CHECK(queue.judge.order == expected);
}

TEST_CASE("lock: isLocked() sees the holder in a tab with thousands of requests") {
    LockOrderScene queue;
    const auto holder = queue.ask(0, to_read);
    for (int i = 0; i < 2'000; ++i) queue.members[0].page->hold(to_read);
    queue.settle();
    CHECK(queue.is_locked(1));
}

TEST_CASE("lock: a reader does not wait for a tab behind its own tab's position") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto reader = queue.ask(0, to_read);
        const AbortSignal signal;
        // By its clock tab 1 asks first, but its message comes later.
        queue.members[1].tab->set_wall_clock(-5);
        queue.members[1].page->hold({.signal = signal});
        const auto second = queue.ask(0, to_read);
        const auto writer = queue.ask(0);
        const auto later = queue.ask(2);
        signal.abort();
        queue.settle(1'000);
        CHECK(holds(second));
        CHECK(holds(reader));
        CHECK(waits(writer));
        CHECK(waits(later));
        const auto last = queue.ask(0);
        reader->let_go.complete({});
        second->let_go.complete({});
        queue.settle(20);
        CHECK(holds(writer));
        CHECK(waits(later));
        queue.release(writer);
        CHECK(holds(later));
        CHECK(waits(last));
    }
}

TEST_CASE("lock: a later writer of the reader's tab does not overtake tabs that asked before") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto reader = queue.ask(0, to_read);
        const AbortSignal contender;
        queue.members[1].tab->set_wall_clock(-5);
        queue.members[1].page->hold({.signal = contender});
        const auto second = queue.ask(0, to_read);
        const AbortSignal writer;
        queue.ask_until(writer, 0);
        queue.members[2].tab->set_wall_clock(-5);
        const auto later = queue.ask(2);
        contender.abort();
        queue.settle(1'000);
        CHECK(holds(second));
        const auto last = queue.ask(0);
        queue.give_up(writer);
        reader->let_go.complete({});
        queue.release(second);
        CHECK(holds(later));
        CHECK(waits(last));
    }
}

TEST_CASE("lock: a tab without a channel waits for at most one slice of the tab before it") {
    for (std::uint64_t seed = 0; seed < few_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        const auto silent = queue.open({.channels = false});
        const auto holder = queue.ask(0);
        const AbortSignal contender;
        queue.ask_until(contender, 1);
        // Requests of one moment share one position.
        std::deque<LockPage::RequestPtr> turns{holder};
        for (int i = 0; i < 6; ++i) turns.push_back(queue.ask(0, {}, 0));
        queue.settle();
        queue.give_up(contender);
        const auto waiting = silent.page->hold();
        queue.settle();
        for (int i = 0; i < 3; ++i) {
            queue.release(turns.front());
            turns.pop_front();
        }
        CHECK(holds(waiting));
    }
}

}  // namespace tabacus::test
