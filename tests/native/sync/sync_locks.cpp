// Locks in shared memory, used by C++ threads, some of which die.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "sync_support.hpp"
#include "tabacus/threads/shared_lock.hpp"

using namespace tabacus::sync;
using tabacus::SharedLock;
using tabacus::sync::test::on_threads;

namespace {

/// A lock table in memory that child processes share.
class SharedLocks {
  public:
    SharedLocks()
        : segment_(mmap(nullptr, SharedLockTable::segment_bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
          table(*new (segment_) SharedLockTable(SharedLockTable::segment_bytes)) {}
    SharedLocks(const SharedLocks&) = delete;
    SharedLocks& operator=(const SharedLocks&) = delete;
    ~SharedLocks() { munmap(segment_, SharedLockTable::segment_bytes); }

    [[nodiscard]] std::uint32_t free_blocks() const {
        std::uint32_t most = 0;
        while (table.make_space(most + 1)) ++most;
        return most;
    }

  private:
    void* segment_;

  public:
    SharedLockTable& table;
};

}  // namespace

TEST_CASE("shared locks: exclusive holders are alone, and shared ones see no half-done write",
          "[sync][locks]") {
    const SharedLocks locks;
    const std::uint32_t all = locks.free_blocks();
    constexpr std::int64_t rounds = 300;
    std::int64_t one = 0;
    std::int64_t other = 0;
    std::vector<std::uint32_t> torn(4, 0);
    on_threads(4, [&](std::uint32_t index) {
        SharedLock lock(locks.table, index + 1, u"l");
        for (std::int64_t i = 0; i < rounds; ++i) {
            if ((i + index) % 3 == 0) {
                const std::shared_lock held(lock);
                if (one != other) ++torn[index];
            } else {
                const std::scoped_lock held(lock);
                ++one;
                ++other;
            }
        }
    });
    REQUIRE(torn == std::vector<std::uint32_t>(4, 0));
    REQUIRE(one == 4 * rounds * 2 / 3);
    REQUIRE(locks.free_blocks() == all);
}

TEST_CASE("shared locks: try_lock() does not wait for a lock that is not available",
          "[sync][locks]") {
    const SharedLocks locks;
    SharedLock reader(locks.table, 1, u"l");
    SharedLock other(locks.table, 2, u"l");
    SharedLock elsewhere(locks.table, 2, u"m");
    REQUIRE(reader.try_lock_shared());
    REQUIRE(other.try_lock_shared());
    REQUIRE_FALSE(SharedLock(locks.table, 3, u"l").try_lock());
    REQUIRE(elsewhere.try_lock());
    other.unlock_shared();
    reader.unlock_shared();
    REQUIRE(other.try_lock());
    REQUIRE(other.held());
}

TEST_CASE("shared locks: the exit of a thread releases its locks and withdraws its requests",
          "[sync][locks][exit]") {
    const SharedLocks locks;
    SharedLock waiting(locks.table, 1, u"l");
    locks.table.enter(2, true);
    const Ref held =
        locks.table.request(2, locks.table.make_text(u"l"), LockMode::exclusive, LockHow::wait);
    locks.table.leave(2);
    std::thread waiter([&] { waiting.lock(); });
    while (locks.table.at<LockRequest>(held)->next == 0) std::this_thread::yield();
    locks.table.report_exit(2, 3, true);
    waiter.join();
    REQUIRE(waiting.held());
}

TEST_CASE("shared locks: a waiter is woken even if the thread that granted its lock has died",
          "[sync][locks][exit]") {
    const SharedLocks locks;
    SharedLock holder(locks.table, 1, u"l");
    SharedLock waiting(locks.table, 2, u"l");
    holder.lock();
    std::thread waiter([&] { waiting.lock(); });
    Ref queued = 0;
    while ((queued = locks.table.at<LockRequest>(locks.table.head().first)->next) == 0) {
        std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the waiter sleeps by then
    locks.table.enter(3, true);
    locks.table.at<LockRequest>(queued)->state.store(static_cast<std::uint32_t>(LockState::held));
    locks.table.report_exit(3, 4, true);
    waiter.join();
    REQUIRE(waiting.held());
}

TEST_CASE("shared locks: a page that cannot make a segment causes an error", "[sync][locks]") {
    auto arena = std::make_unique<Arena>(static_cast<std::uint32_t>(sizeof(Arena)), 0U);
    for (const std::uint32_t none : {SegmentSlot::no_memory, SegmentSlot::no_page}) {
        arena->locks_slot.segment.store(none);
        REQUIRE_THROWS_AS(SharedLock(*arena, u"l"), std::system_error);
    }
}

TEST_CASE("shared locks: a page that could not load its module is asked for a segment again",
          "[sync][locks]") {
    auto arena = std::make_unique<Arena>(static_cast<std::uint32_t>(sizeof(Arena)), 0U);
    std::thread page([&] {
        std::uint32_t seen = 0;
        for (const std::uint32_t answer : {SegmentSlot::no_module, SegmentSlot::no_memory}) {
            while (arena->wanted.load() == seen) std::this_thread::yield();
            seen = arena->wanted.load();
            arena->locks_slot.segment.store(answer);
            PlatformParker::unpark_all(arena->locks_slot.segment);
        }
    });
    for (int times = 0; times < 2; ++times) {
        REQUIRE_THROWS_AS(SharedLock(*arena, u"l"), std::system_error);
    }
    page.join();
    REQUIRE(arena->locks_slot.segment.load() == SegmentSlot::no_memory);
}

namespace {

[[noreturn]] void lock_for_ever(SharedLockTable& table, std::uint32_t seed) {
    std::mt19937 random(seed);
    for (;;) {
        SharedLock one(table, 2, random() % 2 == 0 ? u"l" : u"m");
        SharedLock other(table, 2, u"other, and long enough for several blocks");
        static_cast<void>(one.try_lock());
        static_cast<void>(other.try_lock_shared());
    }
}

}  // namespace

TEST_CASE("shared locks: a thread killed inside leaves the table whole for the next one",
          "[sync][locks][exit]") {
    const SharedLocks locks;
    const std::uint32_t all = locks.free_blocks();
    int inside = 0;
    // Chance decides where a kill hits the child: the test kills until enough have hit it inside.
    for (std::uint32_t kill_number = 0; kill_number < 40 || inside < 6; ++kill_number) {
        REQUIRE(kill_number < 2'000);
        const pid_t child = fork();
        if (child == 0) lock_for_ever(locks.table, kill_number);
        usleep(2000 + kill_number * 7);
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        if (locks.table.inside(2)) ++inside;
        locks.table.report_exit(2, 1, true);
        for (const auto* name : {u"l", u"m", u"other, and long enough for several blocks"}) {
            REQUIRE(SharedLock(locks.table, 1, name).try_lock());
        }
        REQUIRE(locks.free_blocks() == all);
    }
}
