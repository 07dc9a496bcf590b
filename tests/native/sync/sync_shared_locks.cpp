#include <atomic>
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <thread>

#include "sync_support.hpp"
#include "tabacus/threads/deadline.hpp"
#include "tabacus/threads/shared_locks.hpp"

using namespace tabacus::sync;
using tabacus::century;
using tabacus::deadline_after;
using tabacus::SharedBarrier;
using tabacus::SharedRwMutex;
using tabacus::SharedSemaphore;
using tabacus::steady_now_ns;
using tabacus::time_until;
using tabacus::wait_ns;
using tabacus::sync::test::on_threads;

namespace {

constexpr std::chrono::hours one_hour{1};
constexpr std::chrono::microseconds short_wait{50};

/// A clock that counts days, and stands still.
struct DayClock {
    using rep = std::chrono::days::rep;
    using period = std::chrono::days::period;
    using duration = std::chrono::days;
    using time_point = std::chrono::time_point<DayClock>;
    static time_point now() { return time_point(duration(20'000)); }
};

/// PlatformParker with a count of its calls.
struct SharedLockParker : PlatformCells {
    static inline std::atomic<int> calls{0};
    static Parked park(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
        calls.fetch_add(1);
        return PlatformParker::park(word, expected, timeout_ns);
    }
    static void unpark_one(Word& word) {
        calls.fetch_add(1);
        PlatformParker::unpark_one(word);
    }
    static void unpark_all(Word& word) {
        calls.fetch_add(1);
        PlatformParker::unpark_all(word);
    }
};

}  // namespace

TEST_CASE("a reader-writer lock excludes writers from readers and from each other", "[sync]") {
    auto lock = std::make_unique<RwLock>();
    SharedRwMutex mutex(*lock);
    std::int64_t one = 0;
    std::int64_t other = 0;
    std::atomic<std::int64_t> torn{0};
    on_threads(4, [&](std::uint32_t index) {
        for (int i = 0; i < 3'000; ++i) {
            if (index < 2) {
                const std::scoped_lock held(mutex);
                ++one;
                ++other;
            } else {
                const std::shared_lock held(mutex);
                if (one != other) torn.fetch_add(1);
            }
        }
    });
    CHECK(one == 6'000);
    CHECK(torn == 0);
    CHECK(mutex.try_lock());
}

TEST_CASE("waiters of a reader-writer lock that give up lose no grant of others", "[sync]") {
    auto lock = std::make_unique<RwLock>();
    SharedRwMutex mutex(*lock);
    std::int64_t plain = 0;
    std::atomic<std::int64_t> written{0};
    on_threads(5, [&](std::uint32_t index) {
        for (int i = 0; i < 1'000; ++i) {
            if (index == 4) {
                if (mutex.try_lock_shared_for(short_wait)) mutex.unlock_shared();
            } else if (index % 2 == 0 ? mutex.try_lock_for(one_hour)
                                      : mutex.try_lock_for(short_wait)) {
                ++plain;
                written.fetch_add(1);
                mutex.unlock();
            }
        }
    });
    CHECK(plain == written);
    CHECK(mutex.try_lock());
}

TEST_CASE("shared locks take deadlines, as std::unique_lock and std::shared_lock pass them",
          "[sync]") {
    auto lock = std::make_unique<RwLock>();
    auto object = std::make_unique<Semaphore>();
    SharedRwMutex mutex(*lock, [] { return Owner{1}; });
    SharedRwMutex other(*lock, [] { return Owner{2}; });
    SharedSemaphore semaphore(*object, 1);
    const auto past = std::chrono::system_clock::now() - one_hour;
    const auto future = std::chrono::steady_clock::now() + one_hour;
    {
        const std::unique_lock held(mutex, future);
        CHECK(held.owns_lock());
        CHECK_FALSE(std::unique_lock(other, past).owns_lock());
        CHECK_FALSE(std::shared_lock(other, past).owns_lock());
    }
    CHECK(std::shared_lock(other, future).owns_lock());
    CHECK(semaphore.try_acquire_until(future));
    CHECK_FALSE(semaphore.try_acquire_until(past));
    semaphore.release();
    CHECK(semaphore.try_acquire_until(std::chrono::steady_clock::time_point::max()));
}

TEMPLATE_TEST_CASE("the longest wait ends in a century, the shortest at once", "[sync]",
                   std::chrono::nanoseconds, std::chrono::hours, std::chrono::years,
                   std::chrono::duration<double>) {
    const std::chrono::nanoseconds longest = century;
    CHECK(wait_ns(TestType::max()) == longest.count());
    CHECK(wait_ns(TestType::min()) == 0);
    CHECK(deadline_after(TestType::max()) > steady_now_ns() + wait_ns(one_hour));
    using Point = std::chrono::time_point<std::chrono::steady_clock, TestType>;
    CHECK(time_until(Point::max()) == century);
    CHECK(wait_ns(time_until(Point::min())) == 0);
}

TEST_CASE("a wait by a coarse clock does not end before its deadline", "[sync]") {
    CHECK(time_until(DayClock::now() + one_hour) == std::chrono::days(1));
    CHECK(time_until(DayClock::now() - one_hour) == std::chrono::days(0));
    CHECK(time_until(DayClock::time_point::max()) == century);
}

TEST_CASE("uncontended shared locks neither park nor notify", "[sync]") {
    auto lock = std::make_unique<BasicRwLock<SharedLockParker>>();
    auto semaphore = std::make_unique<BasicSemaphore<SharedLockParker>>();
    semaphore->begin(1);
    SharedLockParker::calls = 0;
    for (int i = 0; i < 100; ++i) {
        for (const RwMode mode : {RwMode::shared, RwMode::exclusive}) {
            REQUIRE(lock->lock(7, mode) == Acquired::acquired);
            REQUIRE(lock->unlock(7, mode) == UnlockResult::released);
        }
        REQUIRE(semaphore->acquire(7) == Acquired::acquired);
        REQUIRE(semaphore->release(7) == ReleaseResult::released);
    }
    CHECK(SharedLockParker::calls == 0);
}

TEST_CASE("a reader-writer lock answers its holder", "[sync]") {
    auto lock = std::make_unique<RwLock>();
    REQUIRE(lock->lock(7, RwMode::shared) == Acquired::acquired);
    CHECK(lock->lock(7, RwMode::exclusive) == Acquired::would_deadlock);
    CHECK(lock->lock(7, RwMode::shared) == Acquired::would_deadlock);
    CHECK(lock->try_lock(8, RwMode::exclusive) == Acquired::busy);
    CHECK(lock->try_lock(8, RwMode::shared) == Acquired::acquired);
    CHECK(lock->unlock(7, RwMode::exclusive) == UnlockResult::not_owner);
    CHECK_FALSE(lock->mark_consistent(7));
    CHECK(lock->unlock(7, RwMode::shared) == UnlockResult::released);
    CHECK(lock->unlock(8, RwMode::shared) == UnlockResult::released);
    CHECK(lock->unlock(8, RwMode::shared) == UnlockResult::not_owner);
}

TEST_CASE("a reader-writer lock is not recoverable after an unlock without mark_consistent",
          "[sync]") {
    auto lock = std::make_unique<RwLock>();
    REQUIRE(lock->lock(7, RwMode::exclusive) == Acquired::acquired);
    lock->owner_died(7, 3);
    lock->owner_died(7, 3);
    CHECK(lock->lock(8, RwMode::shared) == Acquired::owner_died);
    CHECK(lock->unlock(8, RwMode::shared) == UnlockResult::released);
    CHECK(lock->lock(9, RwMode::exclusive) == Acquired::owner_died);
    CHECK(lock->mark_consistent(9));
    CHECK(lock->unlock(9, RwMode::exclusive) == UnlockResult::released);
    REQUIRE(lock->lock(8, RwMode::exclusive) == Acquired::acquired);
    lock->owner_died(8, 3);
    CHECK(lock->lock(9, RwMode::exclusive) == Acquired::owner_died);
    CHECK(lock->unlock(9, RwMode::exclusive) == UnlockResult::released);
    CHECK(lock->lock(10, RwMode::exclusive) == Acquired::not_recoverable);
    CHECK(lock->try_lock(10, RwMode::shared) == Acquired::not_recoverable);
}

TEST_CASE("a shared lock refuses a request for which it has no record", "[sync]") {
    auto lock = std::make_unique<BasicRwLock<PlatformParker, 2>>();
    REQUIRE(lock->lock(7, RwMode::shared) == Acquired::acquired);
    REQUIRE(lock->lock(8, RwMode::shared) == Acquired::acquired);
    CHECK(lock->lock(9, RwMode::shared) == Acquired::full);
    lock->owner_died(7, 3);
    CHECK(lock->lock(9, RwMode::shared) == Acquired::acquired);
}

TEST_CASE("a semaphore admits as many threads as it has permits", "[sync]") {
    auto object = std::make_unique<Semaphore>();
    SharedSemaphore semaphore(*object, 2);
    std::atomic<int> inside{0};
    std::atomic<int> wrong{0};
    on_threads(4, [&](std::uint32_t index) {
        for (int i = 0; i < 2'000; ++i) {
            if (index == 3 ? !semaphore.try_acquire_for(short_wait)
                           : !semaphore.try_acquire_for(one_hour))
                continue;
            if (inside.fetch_add(1) >= 2) wrong.fetch_add(1);
            inside.fetch_sub(1);
            semaphore.release();
        }
    });
    CHECK(wrong == 0);
    CHECK(object->available() == 2);
}

TEST_CASE("a semaphore takes a release from the accounts of others, and refuses too many",
          "[sync]") {
    const auto owned = std::make_unique<Semaphore>();
    Semaphore& semaphore = *owned;
    CHECK(semaphore.begin(2) == 2);
    CHECK(semaphore.begin(3) == 2);
    REQUIRE(semaphore.acquire(7) == Acquired::acquired);
    REQUIRE(semaphore.acquire(7) == Acquired::acquired);
    CHECK(semaphore.try_acquire(8) == Acquired::busy);
    CHECK(semaphore.release(8) == ReleaseResult::released);
    CHECK(semaphore.available() == 1);
    semaphore.owner_died(7, 3);
    CHECK(semaphore.available() == 2);
    CHECK(semaphore.release(8) == ReleaseResult::released);
    CHECK(semaphore.available() == 3);
    CHECK(semaphore.release(8, permits_max) == ReleaseResult::out_of_range);
    CHECK(semaphore.available() == 3);
    CHECK(semaphore.release(8, permits_max - 3) == ReleaseResult::released);
    CHECK(semaphore.available() == permits_max);
}

TEST_CASE("threads pass a barrier together, and fewer of them after a drop", "[sync]") {
    auto object = std::make_unique<Barrier>();
    SharedBarrier barrier(*object, 4);
    constexpr std::int64_t rounds = 300;
    std::atomic<std::int64_t> arrived{0};
    std::atomic<int> early{0};
    on_threads(4, [&](std::uint32_t index) {
        for (std::int64_t round = 1; round <= rounds; ++round) {
            arrived.fetch_add(1);
            if (index == 0) {
                while (!barrier.arrive_and_wait_for(short_wait)) std::this_thread::yield();
            } else {
                barrier.arrive_and_wait();
            }
            if (arrived.load() < 4 * round) early.fetch_add(1);
        }
        if (index == 3) return barrier.arrive_and_drop();
        barrier.arrive_and_wait();
    });
    CHECK(early == 0);
}
