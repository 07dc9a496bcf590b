// The positions of one tab's requests in the queue of all tabs: which request gets a position,
// which inherits it, and that no position is before that of an earlier request.
#include <catch2/catch_test_macros.hpp>

#include "lock_order_scene.hpp"
#include "seeds.hpp"

namespace tabacus::test {
namespace {

using Order = std::vector<int>;

constexpr std::uint64_t order_seeds = 8;

/// Plays scenes whose seeds differ, and with them which tab moves first.
void each_scene(const std::function<void(LockOrderScene&)>& play) {
    for (std::uint64_t seed = 0; seed < order_seeds; ++seed) {
        CAPTURE(seed);
        LockOrderScene queue(seed);
        play(queue);
    }
}

}  // namespace

TEST_CASE("lock: a tab that asks anew and gives up its old request overtakes no other tab") {
    for (const bool queued : {false, true}) {
        each_scene([&](LockOrderScene& queue) {
            // Whether the old request has a position of its own, behind a request of another tab
            // that waits for this tab's holder.
            CAPTURE(queued);
            const auto holder = queue.ask(queued ? 0 : 1);
            const auto first = queued ? queue.ask(1) : holder;
            const AbortSignal signal;
            queue.ask_until(signal, 0);
            const auto between = queue.ask(2);
            const auto anew = queue.members[0].page->hold({});
            queue.give_up(signal);
            queue.release(holder);
            CHECK(waits(between) == queued);
            if (queued) queue.release(first);
            CHECK(holds(between));
            CHECK(waits(anew));
        });
    }
}

TEST_CASE("lock: a writer behind its tab's reader has a position, despite a try between them") {
    each_scene([](LockOrderScene& queue) {
        const auto holder = queue.ask(1);
        const auto reader = queue.ask(0, to_read);
        const auto tries = queue.ask(0, {.if_available = true}, 5);
        const auto writer = queue.ask(0);
        CHECK(tries->ended);
        const auto later = queue.ask(2, to_read);
        queue.release(holder);
        CHECK(holds(reader));
        CHECK(waits(writer));
        CHECK(waits(later));
    });
}

TEST_CASE("lock: a writer has the position that the writer before it would have taken") {
    each_scene([](LockOrderScene& queue) {
        queue.ask(0, to_read);
        const AbortSignal signal;
        queue.members[0].page->hold({.signal = signal});
        const auto writer = queue.members[0].page->hold({});
        queue.give_up(signal);
        const auto later = queue.ask(2, to_read);
        CHECK(waits(writer));
        CHECK(waits(later));
    });
}

TEST_CASE("lock: positions are taken anew after a freeze, and after the entry lock was stolen") {
    for (const bool frozen : {true, false}) {
        each_scene([&](LockOrderScene& queue) {
            CAPTURE(frozen);
            queue.judge.lenient = true;
            auto holder = queue.ask(1);
            const auto reader = queue.ask(0, to_read);
            const auto writer = queue.ask(0);
            if (frozen) {
                queue.origin.freeze(*queue.members[0].tab);
                queue.settle();
                queue.origin.thaw(*queue.members[0].tab);
                queue.settle();
            } else {
                holder = queue.ask(1, {.steal = true});
            }
            const auto later = queue.ask(2, to_read);
            queue.release(holder);
            CHECK(holds(reader));
            CHECK(waits(writer));
            CHECK(waits(later));
        });
    }
}

TEST_CASE("lock: a request inherits a position across one that does not wait") {
    each_scene([](LockOrderScene& queue) {
        const auto holder = queue.ask(0);
        const auto first = queue.ask(2);
        const AbortSignal signal;
        queue.ask_until(signal, 0);
        const auto tries = queue.members[0].page->hold({.if_available = true});
        const auto heir = queue.ask(0, {}, 5);
        queue.give_up(signal);
        CHECK(tries->ended);
        const auto last = queue.ask(2);
        queue.release(holder);
        CHECK(holds(first));
        queue.release(first);
        CHECK(holds(heir));
        CHECK(waits(last));
    });
}

TEST_CASE("lock: a tab that tried a thousand times is served in its turn") {
    LockOrderScene queue;
    const auto holder = queue.ask(0);
    for (int tries = 0; tries < 1'001; ++tries) queue.ask(1, {.if_available = true}, 25);
    Order expected;
    for (const std::size_t tab : {0U, 1U, 0U}) {
        queue.members[tab].page->count({}, 0);
        expected.push_back(queue.last_request);
        queue.settle();
    }
    queue.release(holder);
    queue.settle(500);
    const auto& order = queue.judge.order;
    REQUIRE(order.size() > expected.size());
    CHECK(Order(order.end() - 3, order.end()) == expected);
}

TEST_CASE("lock: a reader beside its tab's reader does not wait for its tab's later writer") {
    each_scene([](LockOrderScene& queue) {
        const auto reader = queue.ask(0, to_read);
        const AbortSignal signal;
        queue.ask_until(signal, 1);
        const auto second = queue.ask(0, to_read);
        const auto writer = queue.ask(0);
        signal.abort();
        queue.settle(1'000);
        CHECK(holds(second));
        queue.release(reader);
        CHECK(holds(second));
        CHECK(waits(writer));
    });
}

TEST_CASE("lock: a request that gives up leaves the entry lock to its tab's next position") {
    each_scene([](LockOrderScene& queue) {
        const auto holder = queue.ask(1);
        const AbortSignal first;
        const AbortSignal second;
        queue.ask_until(first, 0, to_read);
        queue.ask_until(second, 0);
        const auto reader = queue.ask(0, to_read);
        queue.give_up(second);
        const auto writer = queue.ask(1);
        queue.ask(0, to_read);
        queue.give_up(first);
        queue.release(holder);
        CHECK(holds(reader));
        CHECK(waits(writer));
    });
}

}  // namespace tabacus::test
