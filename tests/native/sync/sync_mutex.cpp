#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <cstdint>
#include <thread>

#include "sync_support.hpp"
#include "tabacus/sync/mutex.hpp"
#include "tabacus/sync/thread_id.hpp"

using namespace tabacus::sync;
using tabacus::sync::test::on_threads;

namespace {

/// PlatformParker with counts of its calls.
struct CountedParker : PlatformCells {
    static inline std::atomic<int> parks{0};
    static inline std::atomic<int> unparks{0};

    static Parked park(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
        parks.fetch_add(1);
        return PlatformParker::park(word, expected, timeout_ns);
    }
    static void unpark_one(Word& word) {
        unparks.fetch_add(1);
        PlatformParker::unpark_one(word);
    }
    static void unpark_all(Word& word) {
        unparks.fetch_add(1);
        PlatformParker::unpark_all(word);
    }
    static void reset() {
        parks = 0;
        unparks = 0;
    }
};

std::int64_t now_ns() {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

constexpr std::int64_t ms_ns = 1'000'000;
constexpr std::int64_t hour_ns = 3'600'000 * ms_ns;

template <class Condition>
void until(Condition condition) {
    while (!condition()) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a mutex excludes", "[sync]") {
    Mutex mutex;
    constexpr std::int64_t rounds = 100'000;
    std::int64_t plain = 0;
    on_threads(4, [&](std::uint32_t) {
        const Owner self = this_thread_id();
        for (std::int64_t i = 0; i < rounds; ++i) {
            mutex.lock(self);
            ++plain;
            mutex.unlock(self);
        }
    });
    CHECK(plain == 4 * rounds);
    CHECK_FALSE(mutex.locked());
}

TEST_CASE("an uncontended lock and unlock neither parks nor notifies", "[sync]") {
    BasicMutex<CountedParker> mutex;
    CountedParker::reset();
    for (int i = 0; i < 1'000; ++i) {
        REQUIRE(mutex.lock(7) == LockResult::acquired);
        REQUIRE(mutex.unlock(7) == UnlockResult::released);
        REQUIRE(mutex.try_lock(8) == LockResult::acquired);
        REQUIRE(mutex.unlock(8) == UnlockResult::released);
    }
    CHECK(CountedParker::parks == 0);
    CHECK(CountedParker::unparks == 0);
}

TEST_CASE("an unlock with a sleeper notifies", "[sync]") {
    BasicMutex<CountedParker> mutex;
    CountedParker::reset();
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    std::thread sleeper([&] {
        mutex.lock(8);
        mutex.unlock(8);
    });
    until([] { return CountedParker::parks.load() > 0; });
    mutex.unlock(7);
    sleeper.join();
    CHECK(CountedParker::unparks >= 1);
}

TEST_CASE("a thread that does not hold the mutex cannot unlock it", "[sync]") {
    Mutex mutex;
    CHECK(mutex.unlock(7) == UnlockResult::not_owner);
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    CHECK(mutex.unlock(8) == UnlockResult::not_owner);
    CHECK(mutex.owner() == 7);
    CHECK(mutex.unlock(7) == UnlockResult::released);
    CHECK(mutex.unlock(7) == UnlockResult::not_owner);
}

TEST_CASE("an owner that locks again gets an error, and still holds the mutex", "[sync]") {
    Mutex mutex;
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    CHECK(mutex.lock(7) == LockResult::would_deadlock);
    CHECK(mutex.lock_for(7, ms_ns, now_ns) == LockResult::would_deadlock);
    CHECK(mutex.try_lock(7) == LockResult::busy);
    CHECK(mutex.owner() == 7);
}

TEST_CASE("a try takes a free mutex and leaves a held one", "[sync]") {
    Mutex mutex;
    CHECK(mutex.try_lock(7) == LockResult::acquired);
    CHECK(mutex.try_lock(8) == LockResult::busy);
    CHECK(mutex.owner() == 7);
}

TEST_CASE("a timed lock gives up while it is held", "[sync]") {
    Mutex mutex;
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    CHECK(mutex.lock_for(8, 0, now_ns) == LockResult::timed_out);
    CHECK(mutex.lock_for(8, ms_ns, now_ns) == LockResult::timed_out);
    CHECK(mutex.owner() == 7);
}

TEST_CASE("a timed lock succeeds when it is released in time", "[sync]") {
    BasicMutex<CountedParker> mutex;
    CountedParker::reset();
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    auto outcome = LockResult::busy;
    std::thread waiter([&] {
        outcome = mutex.lock_for(8, hour_ns, now_ns);
        mutex.unlock(8);
    });
    until([] { return CountedParker::parks.load() > 0; });
    mutex.unlock(7);
    waiter.join();
    CHECK(outcome == LockResult::acquired);
    CHECK_FALSE(mutex.locked());
}

// How a wake-up can be lost: A and B sleep. An unlock wakes A, which finds that C has overtaken it
// and that its own time is over. C does not know that B sleeps, so A must mark the mutex such that
// C wakes B.
TEST_CASE("a woken waiter that gives up leaves the mutex contended for the next", "[sync]") {
    struct Overtaken : CountedParker {
        static BasicMutex<Overtaken>*& mutex() {
            static BasicMutex<Overtaken>* subject = nullptr;
            return subject;
        }
        static std::int64_t& time_ns() {
            static std::int64_t now = 0;
            return now;
        }
        static Parked park(Word&, std::uint32_t, std::int64_t) {
            mutex()->unlock(7);
            mutex()->try_lock(3);
            time_ns() = hour_ns;
            return Parked::notified;
        }
    };
    BasicMutex<Overtaken> mutex;
    Overtaken::mutex() = &mutex;
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    REQUIRE(mutex.lock_for(8, ms_ns, Overtaken::time_ns) == LockResult::timed_out);
    REQUIRE(mutex.owner() == 3);
    CountedParker::reset();
    CHECK(mutex.unlock(3) == UnlockResult::released);
    CHECK(CountedParker::unparks == 1);
}

// The unlock wakes a thread that was terminated while it slept.
TEST_CASE("a wake-up that goes to a dead thread is missed for one sleep only", "[sync]") {
    struct Missed : CountedParker {
        static BasicMutex<Missed>*& mutex() {
            static BasicMutex<Missed>* subject = nullptr;
            return subject;
        }
        static std::int64_t& timeout_ns() {
            static std::int64_t last = 0;
            return last;
        }
        static Parked park(Word&, std::uint32_t, std::int64_t timeout_ns_given) {
            timeout_ns() = timeout_ns_given;
            mutex()->unlock(7);
            return Parked::timed_out;
        }
    };
    for (const bool timed : {false, true}) {
        BasicMutex<Missed> mutex;
        Missed::mutex() = &mutex;
        REQUIRE(mutex.lock(7) == LockResult::acquired);
        const LockResult got = timed ? mutex.lock_for(8, hour_ns, now_ns) : mutex.lock(8);
        REQUIRE(got == LockResult::acquired);
        CHECK(Missed::timeout_ns() == PlatformCells::sleep_max_ns);
        // Other threads may sleep behind the dead one, so the unlock must notify.
        CountedParker::reset();
        CHECK(mutex.unlock(8) == UnlockResult::released);
        CHECK(CountedParker::unparks == 1);
    }
}

TEST_CASE("a step after sleeping takes the mutex as contended", "[sync]") {
    BasicMutex<CountedParker> mutex;
    CountedParker::reset();
    REQUIRE(mutex.step(7, true) == 0);
    CHECK(mutex.unlock(7) == UnlockResult::released);
    CHECK(CountedParker::unparks == 1);
    REQUIRE(mutex.step(7, false) == 0);
    CHECK(mutex.unlock(7) == UnlockResult::released);
    CHECK(CountedParker::unparks == 1);
}

TEST_CASE("a step on a held mutex announces a sleeper", "[sync]") {
    Mutex mutex;
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    CHECK(mutex.step(8, false) == ((7U << Mutex::owner_shift) | Mutex::contended_bit));
}

TEST_CASE("the next owner learns of a death, and of no death after it", "[sync]") {
    Mutex mutex;
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    mutex.owner_died(6);
    CHECK(mutex.owner() == 7);
    mutex.owner_died(7);
    mutex.owner_died(7);
    CHECK(mutex.locked());
    CHECK(mutex.unlock(7) == UnlockResult::not_owner);
    CHECK(mutex.lock_for(8, 0, now_ns) == LockResult::owner_died);
    CHECK(mutex.inconsistent());
    CHECK(mutex.try_lock(9) == LockResult::busy);
    CHECK(mutex.mark_consistent(9) == UnlockResult::not_owner);
    CHECK(mutex.mark_consistent(8) == UnlockResult::released);
    CHECK(mutex.unlock(8) == UnlockResult::released);
    CHECK(mutex.try_lock(9) == LockResult::acquired);
}

TEST_CASE("the successor of one that dies learns of the first death, too", "[sync]") {
    Mutex mutex;
    mutex.lock(7);
    mutex.owner_died(7);
    REQUIRE(mutex.lock_spinning(8) == LockResult::owner_died);
    mutex.owner_died(8);
    CHECK(mutex.step(9, false) == 0);
    CHECK(mutex.inconsistent());
    CHECK(mutex.owner() == 9);
}

TEST_CASE("a mutex that is unlocked inconsistent can never be acquired", "[sync]") {
    BasicMutex<CountedParker> mutex;
    mutex.lock(7);
    mutex.owner_died(7);
    REQUIRE(mutex.try_lock(8) == LockResult::owner_died);
    REQUIRE(mutex.step(9, false) != 0);
    CountedParker::reset();
    CHECK(mutex.unlock(8) == UnlockResult::released);
    CHECK(CountedParker::unparks == 1);
    CHECK(mutex.lock(9) == LockResult::not_recoverable);
    CHECK(mutex.lock_for(9, ms_ns, now_ns) == LockResult::not_recoverable);
    CHECK(mutex.try_lock(9) == LockResult::not_recoverable);
    CHECK(mutex.step(9, true) == Mutex::not_recoverable_word);
    CHECK(mutex.unlock(8) == UnlockResult::not_owner);
    mutex.owner_died(8);
    CHECK(mutex.try_lock(9) == LockResult::not_recoverable);
}

TEST_CASE("a death wakes a waiter, whether or not the dead thread was the owner", "[sync]") {
    BasicMutex<CountedParker> mutex;
    CountedParker::reset();
    mutex.lock(7);
    mutex.owner_died(6);
    CHECK(CountedParker::unparks == 1);
    auto got = LockResult::busy;
    std::thread sleeper([&] { got = mutex.lock(8); });
    until([] { return CountedParker::parks.load() > 0; });
    mutex.owner_died(7);
    sleeper.join();
    CHECK(got == LockResult::owner_died);
}

// The thread of an asynchronous waiter may be blocked elsewhere. If such a waiter alone got a
// wake-up, a blocking waiter behind it would miss it.
TEST_CASE("with asynchronous waiters queued an unlock wakes all waiters", "[sync]") {
    struct Parker : PlatformParker {
        static int& all() {
            static int count = 0;
            return count;
        }
        static void unpark_all(Word&) { ++all(); }
    };
    BasicMutex<Parker> mutex;
    mutex.enter_async();
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    REQUIRE(mutex.step(8, false) != 0);
    REQUIRE(mutex.unlock(7) == UnlockResult::released);
    CHECK(Parker::all() == 1);
    mutex.leave_async();
    REQUIRE(mutex.lock(7) == LockResult::acquired);
    REQUIRE(mutex.step(8, false) != 0);
    REQUIRE(mutex.unlock(7) == UnlockResult::released);
    CHECK(Parker::all() == 1);
}

// Threads with short timeouts compete with threads with long ones, and in every round some give up
// just as they are woken. If one of them lost a wake-up, a thread that waits for an hour would
// hang, and CTest would report that.
TEST_CASE("a waiter that gives up loses no wake-up", "[sync]") {
    BasicMutex<CountedParker> mutex;
    std::int64_t plain = 0;
    std::atomic<std::int64_t> acquired{0};
    on_threads(6, [&](std::uint32_t index) {
        const Owner self = this_thread_id();
        const bool waits_long = index % 2 == 0;
        for (int i = 0; i < 5'000; ++i) {
            const std::int64_t timeout_ns = waits_long ? hour_ns : std::int64_t{i % 50} * 1'000;
            if (mutex.lock_for(self, timeout_ns, now_ns) != LockResult::acquired) continue;
            ++plain;
            if (i % 16 == 0) std::this_thread::yield();
            acquired.fetch_add(1);
            mutex.unlock(self);
        }
    });
    CHECK(plain == acquired.load());
    CHECK_FALSE(mutex.locked());
}
