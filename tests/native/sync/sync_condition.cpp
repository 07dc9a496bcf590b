#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "sync_support.hpp"
#include "tabacus/sync/call_once.hpp"
#include "tabacus/sync/condition.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/thread_id.hpp"
#include "tabacus/threads/shared_condition.hpp"

using namespace tabacus::sync;
using tabacus::sync::test::on_threads;

namespace {

std::int64_t clock_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

constexpr std::int64_t hour_in_ns = 3'600'000'000'000;

/// A parker that counts, and whose sleeps end at once.
struct SleeplessParker : PlatformCells {
    static inline int ones = 0;
    static inline int alls = 0;
    static Parked park(Word&, std::uint32_t, std::int64_t) { return Parked::timed_out; }
    static void unpark_one(Word&) { ++ones; }
    static void unpark_all(Word&) { ++alls; }
    static void reset() { ones = alls = 0; }
};
using TestCondition = BasicCondition<SleeplessParker>;

}  // namespace

// If a wake-up is lost, the test hangs, and CTest reports that.
TEST_CASE("a condition: producers and consumers lose no item and no wake-up", "[sync]") {
    Mutex mutex;
    Condition condition;
    constexpr std::int64_t rounds = 20'000;
    std::int64_t items = 0;
    std::atomic<std::int64_t> consumed{0};
    on_threads(4, [&](std::uint32_t index) {
        const Owner self = this_thread_id();
        for (std::int64_t i = 0; i < rounds; ++i) {
            mutex.lock(self);
            if (index % 2 == 0) {
                ++items;
                mutex.unlock(self);
                condition.notify_one();
                continue;
            }
            condition.wait(mutex, self, [&] { return items > 0; });
            --items;
            consumed.fetch_add(1);
            mutex.unlock(self);
        }
    });
    CHECK(items == 0);
    CHECK(consumed.load() == 2 * rounds);
}

TEST_CASE("a condition: a notification of all ends every wait, and a wait can be timed", "[sync]") {
    Mutex mutex;
    Condition condition;
    bool open = false;
    std::atomic<int> waiting{0};
    on_threads(4, [&](std::uint32_t index) {
        const Owner self = this_thread_id();
        if (index == 0) {
            while (waiting.load() < 3) std::this_thread::yield();
            mutex.lock(self);
            open = true;
            mutex.unlock(self);
            condition.notify_all();
            return;
        }
        mutex.lock(self);
        waiting.fetch_add(1);
        while (!open) condition.wait_for(mutex, self, hour_in_ns, clock_ns);
        mutex.unlock(self);
    });
    mutex.lock(7);
    const Waited waited = condition.wait_for(mutex, 7, 0, clock_ns);
    CHECK_FALSE(waited.notified);
    CHECK(waited.lock == LockResult::acquired);
    CHECK(mutex.owner() == 7);
}

TEST_CASE("a condition: a notification without a waiter wakes nobody", "[sync]") {
    TestCondition condition;
    SleeplessParker::reset();
    condition.notify_one();
    condition.notify_all();
    condition.owner_died(3);
    CHECK(SleeplessParker::ones + SleeplessParker::alls == 0);
    const std::uint32_t seen = condition.announce();
    condition.notify_one();
    CHECK(SleeplessParker::ones == 1);
    CHECK(condition.announce() != seen);
}

TEST_CASE("a condition: a death wakes all waiters", "[sync]") {
    TestCondition condition;
    SleeplessParker::reset();
    const std::uint32_t seen = condition.announce();
    condition.owner_died(3);
    CHECK(SleeplessParker::alls == 1);
    CHECK(condition.announce() != seen);
}

TEST_CASE("a condition: with an asynchronous waiter one notification wakes all", "[sync]") {
    TestCondition condition;
    SleeplessParker::reset();
    condition.enter_async();
    condition.announce();
    condition.notify_one();
    CHECK(SleeplessParker::alls == 1);
    condition.leave_async();
    condition.notify_one();
    CHECK(SleeplessParker::ones == 1);
}

TEST_CASE("a condition: a wait with an inconsistent mutex does not sleep", "[sync]") {
    Mutex mutex;
    Condition condition;
    mutex.lock(7);
    mutex.owner_died(7);
    REQUIRE(mutex.lock(8) == LockResult::owner_died);
    CHECK(condition.wait(mutex, 8) == LockResult::not_recoverable);
}

TEST_CASE("once: a function runs once over all threads", "[sync]") {
    for (int round = 0; round < 200; ++round) {
        OnceFlag once;
        int runs = 0;
        std::atomic<int> early{0};
        on_threads(4, [&](std::uint32_t) {
            once.call(this_thread_id(), [&] { ++runs; });
            early.fetch_add(once.done() ? 0 : 1);
        });
        CHECK(runs == 1);
        CHECK(early.load() == 0);
    }
}

TEST_CASE("once: the next caller runs a function that threw or whose thread died", "[sync]") {
    OnceFlag once;
    CHECK_THROWS_AS(once.call(7, [] { throw std::runtime_error("not now"); }), std::runtime_error);
    CHECK_FALSE(once.done());
    const auto nested = once.call(8, [&] {
        CHECK(once.call(8, [] {}) == CallResult::would_deadlock);
        once.owner_died(8);  // it dies here, and another thread calls
        CHECK(once.call(9, [] {}) == CallResult::ran);
    });
    CHECK(nested == CallResult::ran);
    CHECK(once.call(7, [] {}) == CallResult::done);
}

TEST_CASE("a shared condition variable passes items from thread to thread, for any lock",
          "[sync]") {
    Mutex guard;
    const auto rw_guard = std::make_unique<RwLock>();
    Condition filled;
    std::int64_t taken = 0;
    const auto pass_items = [&](auto mutex) {
        tabacus::SharedConditionVariable condition(filled);
        int items = 0;
        on_threads(4, [&](std::uint32_t index) {
            for (int i = 0; i < 500; ++i) {
                std::unique_lock held(mutex);
                if (index < 2) {
                    ++items;
                    condition.notify_one();
                    continue;
                }
                const auto some = [&] { return items > 0; };
                if (index == 2) {
                    condition.wait(held, some);
                } else if (!condition.wait_for(held, std::chrono::hours(1), some)) {
                    return;
                }
                --items;
                ++taken;
            }
        });
        CHECK(items == 0);
        std::unique_lock held(mutex);
        CHECK(condition.wait_for(held, std::chrono::microseconds(50)) == std::cv_status::timeout);
        CHECK_FALSE(
            condition.wait_until(held, std::chrono::steady_clock::now(), [] { return false; }));
    };
    pass_items(tabacus::SharedMutex(guard));
    pass_items(tabacus::SharedRwMutex(*rw_guard));
    CHECK(taken == 2'000);
}

TEST_CASE("a shared mutex answers its holder, and is not recoverable after a silent unlock",
          "[sync]") {
    Mutex word;
    tabacus::SharedMutex mutex(word);
    REQUIRE(mutex.try_lock());
    CHECK_THROWS_AS(mutex.lock(), std::system_error);
    CHECK_THROWS_AS(mutex.try_lock_for(std::chrono::hours(1)), std::system_error);
    mutex.unlock();
    REQUIRE(word.lock(owner_max) == LockResult::acquired);
    CHECK_FALSE(mutex.try_lock());
    CHECK_FALSE(mutex.try_lock_until(std::chrono::steady_clock::now()));
    word.owner_died(owner_max);
    mutex.lock();
    mutex.unlock();
    CHECK_THROWS_AS(mutex.lock(), std::system_error);
}

TEST_CASE("once: a shared flag runs a function once, and again after it has thrown", "[sync]") {
    OnceFlag state;
    tabacus::SharedOnceFlag once(state);
    int runs = 0;
    CHECK_THROWS_AS(tabacus::call_once(once, [] { throw std::domain_error("not now"); }),
                    std::domain_error);
    on_threads(4, [&](std::uint32_t) { tabacus::call_once(once, [&](int n) { runs += n; }, 3); });
    CHECK(runs == 3);
    OnceFlag other;
    tabacus::SharedOnceFlag self(other);
    CHECK_THROWS_AS(tabacus::call_once(self, [&] { tabacus::call_once(self, [] {}); }),
                    std::system_error);
}
