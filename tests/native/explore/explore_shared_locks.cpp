// The reader-writer lock, the semaphore and the barrier of shared memory under every interleaving
// of their atomic operations, with a thread that dies at every step.
#include <array>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "equal_states.hpp"
#include "mortal_locks.hpp"
#include "tabacus/sync/barrier.hpp"
#include "tabacus/sync/counting_semaphore.hpp"
#include "tabacus/sync/rw_lock.hpp"

namespace tabacus::test {
namespace {

/// A clock that lets a timed wait sleep once, and ends it after the second look.
struct OneSleepClock {
    std::int64_t now_ns = 0;
    std::int64_t operator()() { return now_ns += 6; }
};
constexpr std::int64_t one_sleep_ns = 10;

/// A parker with which a thread that finds a lock in use sleeps before it enters the queue, and for
/// ever, so that a missing wake-up shows. It does so again if it has been woken in vain, `rounds`
/// times in all.
template <std::uint32_t rounds>
struct WatchingParker : ModelParker {
    static constexpr std::uint32_t watch_looks = 1;
    static constexpr std::uint32_t watch_rounds = rounds;
};

/// What a thread does with a reader-writer lock.
enum class LockWay : char {
    reads = 'r',
    writes = 'w',
    reads_timed = 'R',
    writes_timed = 'W',
    meets = 'm',  // reads, and stays inside until another such reader is inside
    // Writes, but does not stay in the queue: other writers may wait there for readers that meet.
    writes_unqueued = 'e',
};

/// Each thread locks `rounds` times, in the way of its letter. A writer increments a plain cell,
/// and a reader reads it twice. Thread 0 may die.
template <class Parks>
class Locking final : public MortalLocks {
  public:
    Locking(const std::string& ways, std::uint32_t rounds, Deaths deaths)
        : MortalLocks(ways.size(), deaths), ways_(ways), rounds_(rounds) {}

    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string after_step() override {
        return failure_ != nullptr ? failure_ : lock_.unfair(mortal(0) ? 2 : 1);
    }

    std::string judge() override {
        if (!died() && cell_.peek() != writes_) return "two writers were inside at once";
        const Acquired last = lock_.try_lock(9, RwMode::exclusive);
        if (last == Acquired::busy) return "the lock stays held";
        const std::uint32_t reports = news_ + (last == Acquired::owner_died ? 1 : 0);
        if (reports > 1) return "a death was reported to two writers";
        if (dead_inside() && reports == 0) return "a death inside was not reported";
        return !died() && reports != 0 ? "a death was reported, but nobody died" : "";
    }

  protected:
    void work(std::uint32_t index) override {
        for (std::uint32_t i = 0; i < rounds_; ++i) enter(index);
        if (index == 0) ended_ = true;
    }
    void report_death() override { lock_.owner_died(1, reporter); }

  private:
    /// The lock, with a view of its records that is no operation of a thread.
    class Watched : public sync::BasicRwLock<Parks, lock_records> {
      public:
        using Base = sync::BasicRwLock<Parks, lock_records>;
        using Base::exclusive;
        using Base::holds;
        using Base::wants;

        /// Returns a failure if a waiter was overtaken more often than `most` times. A hold that a
        /// reader takes while the gate is open overtakes nobody, because no writer waits then.
        std::string unfair(std::uint32_t most) {
            most_ = most;
            std::string failure;
            std::uint32_t index = 0;
            this->each([&](sync::Record<Parks>&, std::uint32_t state) {
                observe(index++, state, failure);
            });
            return failure;
        }

      private:
        struct Waiter {
            std::uint32_t state = 0;
            std::uint32_t writers = 0;                         // granted while this one waits
            std::array<std::uint32_t, lock_records> grants{};  // of readers, since the last writer
        };
        void observe(std::uint32_t index, std::uint32_t now, std::string& failure) {
            const std::uint32_t before = std::exchange(waiters_[index].state, now);
            if ((before & wants) == 0 && (now & wants) != 0) {
                waiters_[index] = {.state = now, .writers = 0, .grants = {}};
            }
            if ((now & wants) == 0) waiters_[index] = {.state = now, .writers = 0, .grants = {}};
            if ((before & wants) == 0 || (now & holds) == 0) return;
            const bool writes = (now & exclusive) != 0;
            for (Waiter& other : waiters_) {
                if ((other.state & wants) == 0) continue;
                const bool other_writes = (other.state & exclusive) != 0;
                if (writes && ++other.writers > most_ && !other_writes)
                    failure = "a reader was overtaken by too many writers";
                if (writes) other.grants = {};
                if (!writes && ++other.grants[index] > most_ && other_writes)
                    failure = "a writer was overtaken too often by a reader";
            }
        }
        std::array<Waiter, lock_records> waiters_{};
        std::uint32_t most_ = 1;
    };

    void enter(std::uint32_t index) {
        const auto way = static_cast<LockWay>(ways_[index]);
        const bool timed = way == LockWay::reads_timed || way == LockWay::writes_timed;
        const bool unqueued = way == LockWay::writes_unqueued;
        const bool writes = way == LockWay::writes || way == LockWay::writes_timed || unqueued;
        const RwMode mode = writes ? RwMode::exclusive : RwMode::shared;
        const Acquired got = unqueued ? lock_unqueued(index + 1)
                             : timed
                                 ? lock_.lock_until(index + 1, mode, one_sleep_ns, OneSleepClock{})
                                 : lock_.lock(index + 1, mode);
        if (got == Acquired::timed_out && (timed || unqueued)) return;
        if (got != Acquired::acquired && got != Acquired::owner_died) {
            failure_ = "a request was refused";
            return;
        }
        if (index == 0) inside_ = writes;
        writes ? write(index, got) : read();
        if (way == LockWay::meets) meet();
        if (index == 0) inside_ = false;
        if (lock_.unlock(index + 1, mode) != sync::UnlockResult::released)
            failure_ = "an unlock was refused";
    }
    Acquired lock_unqueued(Owner self) {
        auto clock = [] { return std::int64_t{0}; };
        auto* record = lock_.watch_and_request(self, RwMode::exclusive, sync::forever_ns, clock);
        return lock_.settle(self, *record, sync::GiveUp::at_once);
    }
    void write(std::uint32_t index, Acquired got) {
        if (got == Acquired::owner_died) {
            ++news_;
            lock_.mark_consistent(index + 1);
        }
        cell_.store(cell_.load() + 1);
        ++writes_;
    }
    void read() {
        if (cell_.load() != cell_.load()) failure_ = "a writer was inside with a reader";
    }
    void meet() {
        met_.fetch_add(1);
        ModelParker::unpark_all(met_);
        while (met_.load() < 2) ModelParker::park(met_, 1, sync::forever_ns);
    }
    [[nodiscard]] bool dead_inside() const { return !ended_ && inside_; }

    const std::string ways_;
    const std::uint32_t rounds_;
    Watched lock_;
    ModelAtomic<std::uint32_t> cell_{0};
    ModelAtomic<std::uint32_t> met_{0};
    std::uint32_t writes_ = 0;
    std::uint32_t news_ = 0;
    bool inside_ = false;
    bool ended_ = false;
    const char* failure_ = nullptr;
};

template <class Parks = ModelParker>
Program locking(const std::string& ways, std::uint32_t rounds, Deaths deaths = Deaths::none) {
    return threads_program(static_cast<std::uint32_t>(ways.size()), [ways, rounds, deaths] {
        return std::make_unique<Locking<Parks>>(ways, rounds, deaths);
    });
}

/// Each thread acquires and releases a permit `rounds` times; in the way 't', it may give up. No
/// more threads are inside than there are permits, and all permits are there in the end. Thread 0
/// may die. In the way 'c', it reports its own end instead of a release, as a thread that closes its
/// attachment does, and may die while it does so.
template <class Parks>
class Acquiring final : public MortalLocks {
  public:
    Acquiring(const std::string& ways, std::uint32_t permits, std::uint32_t rounds, Deaths deaths)
        : MortalLocks(ways.size(), deaths), ways_(ways), permits_(permits), rounds_(rounds) {
        semaphore_.begin(permits);
    }
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string after_step() override { return failure_ != nullptr ? failure_ : ""; }
    std::string judge() override {
        if (semaphore_.available() < permits_) return "a permit was lost";
        if (semaphore_.available() > permits_) return "a permit was invented";
        return semaphore_.try_acquire(9) == Acquired::acquired ? "" : "the semaphore is stuck";
    }

  protected:
    void work(std::uint32_t index) override {
        for (std::uint32_t i = 0; i < rounds_; ++i) enter(index);
    }
    void report_death() override {
        if (dead_inside_) inside_.fetch_sub(1);
        semaphore_.owner_died(1, reporter);
    }

  private:
    void enter(std::uint32_t index) {
        const Acquired got =
            ways_[index] == 't' ? semaphore_.acquire_until(index + 1, one_sleep_ns, OneSleepClock{})
                                : semaphore_.acquire(index + 1);
        if (got == Acquired::timed_out && ways_[index] == 't') return;
        if (got != Acquired::acquired) failure_ = "a request was refused";
        if (inside_.fetch_add(1) >= permits_) failure_ = "more threads are inside than permits";
        if (index == 0) dead_inside_ = true;
        inside_.fetch_sub(1);
        if (index == 0) dead_inside_ = false;
        if (ways_[index] == 'c') return semaphore_.owner_died(index + 1, index + 1);
        semaphore_.release(index + 1);
    }

    const std::string ways_;
    const std::uint32_t permits_;
    const std::uint32_t rounds_;
    sync::BasicSemaphore<Parks, lock_records> semaphore_;
    ModelAtomic<std::uint32_t> inside_{0};
    bool dead_inside_ = false;
    const char* failure_ = nullptr;
};

template <class Parks = ModelParker>
Program acquiring(const std::string& ways, std::uint32_t permits, std::uint32_t rounds,
                  Deaths deaths = Deaths::none) {
    return threads_program(static_cast<std::uint32_t>(ways.size()), [=] {
        return std::make_unique<Acquiring<Parks>>(ways, permits, rounds, deaths);
    });
}

/// The last thread releases a permit for each other thread, which acquires it and keeps it. Thread
/// 0 may die, and its permit comes back.
class Producing final : public MortalLocks {
  public:
    Producing(std::uint32_t consumers, Deaths deaths)
        : MortalLocks(consumers + 1, deaths), consumers_(consumers) {
        semaphore_.begin(0);
    }
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string judge() override {
        // A thread whose acquire() has returned has ended, so that it keeps its permit.
        const std::uint32_t left = semaphore_.available();
        if (left + consumed_ < consumers_) return "a permit was lost";
        return left + consumed_ > consumers_ ? "a permit was invented" : "";
    }

  protected:
    void work(std::uint32_t index) override {
        if (index == consumers_) {
            semaphore_.release(index + 1, consumers_);
            return;
        }
        semaphore_.acquire(index + 1);
        ++consumed_;
    }
    void report_death() override { semaphore_.owner_died(1, reporter); }

  private:
    const std::uint32_t consumers_;
    sync::BasicSemaphore<ModelParker, lock_records> semaphore_;
    std::uint32_t consumed_ = 0;
};

Program producing(std::uint32_t consumers, Deaths deaths = Deaths::none) {
    return threads_program(consumers + 1,
                           [=] { return std::make_unique<Producing>(consumers, deaths); });
}

/// Each thread passes the barrier `rounds` times. In the way 't' it takes its first arrival back
/// when its time is over, and arrives again. Nobody passes before all have arrived. Thread 0 may
/// die.
class Meeting final : public MortalLocks {
  public:
    Meeting(const std::string& ways, std::uint32_t rounds, Deaths deaths)
        : MortalLocks(ways.size(), deaths), ways_(ways), rounds_(rounds) {
        barrier_.begin(threads());
        barrier_.join(1);
    }
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string after_step() override { return failure_ != nullptr ? failure_ : ""; }

  protected:
    void work(std::uint32_t index) override {
        for (std::uint32_t round = 1; round <= rounds_; ++round) pass(index, round);
        if (ways_[index] == 'd') barrier_.arrive_and_drop(index + 1);
    }
    void report_death() override { barrier_.owner_died(1, reporter); }

  private:
    void pass(std::uint32_t index, std::uint32_t round) {
        Acquired got = Acquired::timed_out;
        arrived_.fetch_add(1);
        if (ways_[index] == 't' && round == 1) {
            got = barrier_.arrive_and_wait_until(index + 1, one_sleep_ns, OneSleepClock{});
        }
        if (got == Acquired::timed_out) {
            // Between the two arrivals nobody may pass.
            if (ways_[index] == 't') arrived_.fetch_sub(1);
            if (ways_[index] == 't') arrived_.fetch_add(1);
            got = barrier_.arrive_and_wait(index + 1);
        }
        if (got != Acquired::acquired) failure_ = "an arrival was refused";
        if (arrived_.load() < round * threads() && !died()) failure_ = "a thread passed too early";
    }

    const std::string ways_;
    const std::uint32_t rounds_;
    sync::BasicBarrier<ModelParker, lock_records> barrier_;
    ModelAtomic<std::uint32_t> arrived_{0};
    const char* failure_ = nullptr;
};

Program meeting(const std::string& ways, std::uint32_t rounds, Deaths deaths = Deaths::none) {
    return threads_program(static_cast<std::uint32_t>(ways.size()),
                           [=] { return std::make_unique<Meeting>(ways, rounds, deaths); });
}

}  // namespace

TEST_CASE("shared locks: two threads lock a reader-writer lock in turns", "[threads]") {
    for (const char* ways : {"rr", "rw", "ww", "Rw", "rW", "wW"})
        check_lock_proved(locking(ways, 2), all);
}

TEST_CASE("shared locks: of three and four threads, none starves at a reader-writer lock",
          "[threads]") {
    for (const char* ways : {"rrw", "www", "rww", "rwW", "wwR"})
        check_lock_proved(locking(ways, 1), {.preemptions = 2});
    check_lock_proved(locking("rrw", 2), {.preemptions = 1});
    check_lock_proved(locking("rrww", 1), {.preemptions = 1});
}

TEST_CASE("shared locks: a writer that gives up lets the readers behind it in", "[threads]") {
    check_lock_proved(locking("mm", 1), all);
    check_lock_proved(locking("mmW", 1), {.preemptions = 2});
}

TEST_CASE("shared locks: a reader-writer lock survives an owner that dies at any step",
          "[threads]") {
    for (const char* ways : {"ww", "rw", "wr"})
        check_lock_proved(locking(ways, 1, Deaths::one), all);
    for (const char* ways : {"www", "wrw", "rww"})
        check_lock_proved(locking(ways, 1, Deaths::one), {.preemptions = 1});
}

TEST_CASE("shared locks: a semaphore admits as many threads as it has permits", "[threads]") {
    for (const char* ways : {"aa", "at"}) check_lock_proved(acquiring(ways, 1, 2), all);
    check_lock_proved(acquiring("aat", 1, 1), {.preemptions = 2});
    check_lock_proved(acquiring("aaa", 2, 1), {.preemptions = 2});
    check_lock_proved(acquiring("aaaa", 2, 1), {.preemptions = 1});
    check_lock_proved(producing(2), {.preemptions = 3});
}

TEST_CASE("shared locks: a thread that sleeps before it enters the queue is woken", "[threads]") {
    for (const char* ways : {"rw", "wW"})
        check_lock_proved(locking<WatchingParker<1>>(ways, 1), all);
    check_lock_proved(acquiring<WatchingParker<1>>("aa", 1, 1), all);
    check_lock_proved(locking<WatchingParker<1>>("rww", 1), {.preemptions = 1});
    check_lock_proved(acquiring<WatchingParker<1>>("aaa", 2, 1), {.preemptions = 1});
    check_lock_proved(locking<WatchingParker<1>>("rw", 1, Deaths::one), all);
    check_lock_proved(acquiring<WatchingParker<1>>("aa", 1, 1, Deaths::one), all);
}

TEST_CASE("shared locks: a thread that sleeps before the queue again is woken again", "[threads]") {
    using Parks = WatchingParker<2>;
    for (const char* ways : {"rw", "wW"}) check_lock_proved(locking<Parks>(ways, 1), all);
    check_lock_proved(acquiring<Parks>("aa", 1, 1), all);
    check_lock_proved(locking<Parks>("rww", 1), {.preemptions = 1});
    check_lock_proved(locking<Parks>("rw", 1, Deaths::one), all);
    check_lock_proved(acquiring<Parks>("aa", 1, 1, Deaths::one), all);
}

TEST_CASE("shared locks: a wake-up that is vain for a writer reaches the reader behind it",
          "[threads]") {
    check_lock_proved(locking<WatchingParker<2>>("eemm", 1), {.preemptions = 1});
}

TEST_CASE("shared locks: permits come back from a thread that dies at any step", "[threads]") {
    for (const std::uint32_t permits : {1U, 2U})
        check_lock_proved(acquiring("aa", permits, 1, Deaths::one), all);
    check_lock_proved(acquiring("aaa", 1, 1, Deaths::one), {.preemptions = 1});
    check_lock_proved(producing(2, Deaths::one), {.preemptions = 2});
}

TEST_CASE("shared locks: permits come back from a thread that dies while it reports its own end",
          "[threads]") {
    check_lock_proved(acquiring("ca", 1, 1, Deaths::one), all);
    check_lock_proved(acquiring("caa", 1, 1, Deaths::one), {.preemptions = 1});
}

TEST_CASE("shared locks: nobody passes a barrier before all parties have arrived", "[threads]") {
    for (const char* ways : {"mm", "tm", "tt"}) check_lock_proved(meeting(ways, 2), all);
    for (const char* ways : {"mmm", "tmm"}) check_lock_proved(meeting(ways, 1), {.preemptions = 2});
    check_lock_proved(meeting("mmmm", 1), {.preemptions = 1});
}

TEST_CASE("shared locks: a barrier counts a party out that dies at any step", "[threads]") {
    for (const char* ways : {"mm", "tm"}) check_lock_proved(meeting(ways, 2, Deaths::one), all);
    check_lock_proved(meeting("mmm", 1, Deaths::one), {.preemptions = 2});
}

TEST_CASE("shared locks: from equal states of threads the same steps lead to equal states",
          "[threads]") {
    if (sanitized) SKIP("threads have no state: sanitizers do not let stacks be copied");
    lab::SeededRandom random(1);
    std::uint64_t other_ways = 0;
    for (const auto& program :
         {locking("rwW", 2, Deaths::one), locking("mmW", 1), acquiring("aat", 1, 2, Deaths::one),
          producing(2, Deaths::one), meeting("tmd", 2, Deaths::one)}) {
        const auto seen = lab::test::seen_by_neighbours(program, random, 400);
        CHECK(seen.differs == 0);
        other_ways += seen.other_ways;
    }
    CHECK(other_ways > 1'000);
}

TEST_CASE("shared locks: three threads with three preemptions, four with two",
          "[.][long][threads]") {
    for (const char* ways : {"rrw", "rww", "www", "rwW", "wwR"})
        check_lock_proved(locking(ways, 1), {.preemptions = 3});
    check_lock_proved(locking("rrww", 1), {.preemptions = 2});
    check_lock_proved(acquiring("aat", 1, 1), {.preemptions = 3});
    check_lock_proved(acquiring("aaa", 2, 1), {.preemptions = 3});
    check_lock_proved(acquiring("aaaa", 2, 1), {.preemptions = 2});
    for (const char* ways : {"mmm", "tmm"}) check_lock_proved(meeting(ways, 1), {.preemptions = 3});
    check_lock_proved(meeting("mmmm", 1), {.preemptions = 2});
}

TEST_CASE("shared locks: two and three threads that sleep before they queue are woken",
          "[.][long][threads]") {
    for (const char* ways : {"rw", "ww", "rW"})
        check_lock_proved(locking<WatchingParker<1>>(ways, 2), all);
    for (const char* ways : {"aa", "at"})
        check_lock_proved(acquiring<WatchingParker<1>>(ways, 1, 2), all);
    for (const char* ways : {"rrw", "rww", "wwR"})
        check_lock_proved(locking<WatchingParker<1>>(ways, 1), {.preemptions = 3});
    check_lock_proved(acquiring<WatchingParker<1>>("aaa", 2, 1), {.preemptions = 3});
    for (const char* ways : {"www", "rww"})
        check_lock_proved(locking<WatchingParker<1>>(ways, 1, Deaths::one), {.preemptions = 2});
    check_lock_proved(acquiring<WatchingParker<1>>("aaa", 1, 1, Deaths::one), {.preemptions = 2});
}

TEST_CASE("shared locks: a thread of two dies at any step of two operations",
          "[.][long][threads]") {
    for (const char* ways : {"ww", "rw", "wr", "rW"})
        check_lock_proved(locking(ways, 2, Deaths::one), all);
    for (const char* ways : {"aa", "at"})
        check_lock_proved(acquiring(ways, 1, 2, Deaths::one), all);
}

TEST_CASE("shared locks: a thread of three dies at any step, with three preemptions",
          "[.][long][threads]") {
    for (const char* ways : {"www", "rww"})
        check_lock_proved(locking(ways, 1, Deaths::one), {.preemptions = 3});
    check_lock_proved(acquiring("aaa", 1, 1, Deaths::one), {.preemptions = 3});
    check_lock_proved(producing(2, Deaths::one), {.preemptions = 3});
    check_lock_proved(meeting("tmm", 1, Deaths::one), {.preemptions = 3});
}

TEST_CASE("shared locks: a thread of four dies at any step, with one preemption",
          "[.][long][threads]") {
    check_lock_proved(locking("wrrw", 1, Deaths::one), {.preemptions = 1});
    check_lock_proved(acquiring("aaaa", 2, 1, Deaths::one), {.preemptions = 1});
    check_lock_proved(meeting("mmmm", 1, Deaths::one), {.preemptions = 1});
}

}  // namespace tabacus::test
