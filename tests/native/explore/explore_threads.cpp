// The primitives of shared memory under every interleaving of their atomic operations, and copies
// of them with planted faults, each of which the explorer must find.
#include <catch2/catch_test_macros.hpp>

#include "lab/explore/sampling.hpp"
#include "lab/explore/search.hpp"
#include "planted/planted_counters.hpp"
#include "planted/planted_mutex.hpp"
#include "tabacus/sync/atomic_counter.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
#include "tabacus/sync/striped_counter.hpp"
#include "tabacus/sync/unsynchronised_counter.hpp"

namespace tabacus::test {
namespace {

using lab::Bound;
using lab::ModelAtomic;
using lab::ModelParker;
using lab::Program;
using lab::Search;
using lab::threads_program;
using lab::ThreadsWorkload;

struct ThreadsFound {
    std::string failure;
    bool exhausted;
    lab::SearchCounts counts;
};

ThreadsFound explore(const Program& program, const Bound& bound = {}) {
    Search search(program, bound);
    search.explore(5'000'000);
    UNSCOPED_INFO("schedules " << search.counts().schedules << ", steps " << search.counts().steps);
    return {search.failed_run() ? search.failed_run()->failure : "", search.exhausted(),
            search.counts()};
}

void check_proved(const Program& program, const Bound& bound = {}) {
    const auto found = explore(program, bound);
    CHECK(found.failure.empty());
    CHECK(found.exhausted);
    CHECK(found.counts.schedules > 1);
}

/// All threads increment a plain cell inside a mutex. Two threads inside at once would lose an
/// increment.
template <class Mutex>
class Section final : public ThreadsWorkload {
  public:
    Section(std::uint32_t threads, std::uint32_t rounds) : threads_(threads), rounds_(rounds) {}
    void run(std::uint32_t index) override {
        for (std::uint32_t i = 0; i < rounds_; ++i) {
            mutex_.lock(index + 1);
            inside_.store(inside_.load() + 1);
            mutex_.unlock(index + 1);
        }
    }
    std::string judge() override {
        return inside_.peek() == threads_ * rounds_ ? "" : "two threads were inside at once";
    }

  private:
    std::uint32_t threads_;
    std::uint32_t rounds_;
    Mutex mutex_;
    ModelAtomic<std::uint32_t> inside_{0};
};

template <class Mutex>
Program sections(std::uint32_t threads, std::uint32_t rounds) {
    return threads_program(
        threads, [threads, rounds] { return std::make_unique<Section<Mutex>>(threads, rounds); });
}

/// The first thread may give up waiting. All others must get the mutex.
template <class Mutex>
class TimedLocking final : public ThreadsWorkload {
  public:
    void run(std::uint32_t index) override {
        if (index == 0) {
            if (!mutex_.lock_timed(1)) return;
        } else {
            mutex_.lock(index + 1);
        }
        mutex_.unlock(index + 1);
    }

  private:
    Mutex mutex_;
};

template <class Mutex>
Program timed_locking(std::uint32_t threads) {
    return threads_program(threads, [] { return std::make_unique<TimedLocking<Mutex>>(); });
}

/// The real mutex, with the interface of the planted ones.
struct RealMutex : sync::BasicMutex<ModelParker> {
    bool lock_timed(sync::Owner self) {
        std::int64_t now_ns = 0;
        return lock_for(self, 10, [&now_ns] { return now_ns += 6; }) == sync::LockResult::acquired;
    }
};

/// Each thread adds `rounds` times. An exact counter has all increments.
template <class Counter, class Add>
class Adding final : public ThreadsWorkload {
  public:
    Adding(std::uint32_t threads, std::uint32_t rounds, Add add)
        : threads_(threads), rounds_(rounds), add_(add) {}
    void run(std::uint32_t index) override {
        for (std::uint32_t i = 0; i < rounds_; ++i) add_(counter_, index + 1);
    }
    std::string judge() override {
        return counter_.value() == threads_ * rounds_ ? "" : "an add was lost";
    }

  private:
    std::uint32_t threads_;
    std::uint32_t rounds_;
    Add add_;
    Counter counter_;
};

template <class Counter, class Add>
Program adding(std::uint32_t threads, std::uint32_t rounds, Add add) {
    return threads_program(threads, [threads, rounds, add] {
        return std::make_unique<Adding<Counter, Add>>(threads, rounds, add);
    });
}

template <class Counter>
Program adding_as_caller(std::uint32_t threads, std::uint32_t rounds) {
    return adding<Counter>(threads, rounds, [](Counter& counter, sync::Owner self) {
        counter.add(1, sync::Caller{self, true});
    });
}

/// Threads add until the limit refuses. The counter never exceeds the limit, and loses no add below
/// it.
template <class Counter>
class Limited final : public ThreadsWorkload {
  public:
    static constexpr std::int64_t most = 2;  // the planted margin suffices for one other thread
    explicit Limited(std::uint32_t adds) : adds_(adds) {}
    void run(std::uint32_t /*index*/) override {
        for (std::uint32_t i = 0; i < adds_; ++i) {
            if (counter_.add(most)) ++added_;
        }
    }
    std::string judge() override {
        if (counter_.peek() > most) return "the counter exceeds its limit";
        return counter_.peek() == added_ ? "" : "an add was lost";
    }

  private:
    std::uint32_t adds_;
    std::int64_t added_ = 0;
    Counter counter_;
};

template <CounterFault fault>
Program limited(std::uint32_t threads) {
    return threads_program(threads,
                           [] { return std::make_unique<Limited<PlantedCounter<fault>>>(1); });
}

/// One thread adds and folds, one reads, and the others add.
template <StripedFault fault>
class Striped final : public ThreadsWorkload {
  public:
    explicit Striped(std::uint32_t threads) : threads_(threads) {}
    void run(std::uint32_t index) override {
        if (index == 0) {
            counter_.bump(1);
            counter_.fold(1, 0);
        } else if (index == 1) {
            before_ = counter_.value();
        } else {
            counter_.bump(index + 1);
        }
    }
    std::string after_step() override {
        return before_ > threads_ - 1 ? "a reader saw too much" : "";
    }
    std::string judge() override {
        return counter_.value() == threads_ - 1 ? "" : "an add was lost";
    }

  private:
    std::int64_t threads_;
    std::int64_t before_ = 0;
    PlantedStripes<fault> counter_;
};

/// One thread adds and then reads while another folds. The read must see the add.
template <StripedFault fault>
class Reading final : public ThreadsWorkload {
  public:
    void run(std::uint32_t index) override {
        if (index == 0) {
            counter_.fold(1, 0);
        } else {
            counter_.bump(2);
            seen_ = counter_.value();
        }
    }
    std::string judge() override { return seen_ == 1 ? "" : "a reader missed an add"; }

  private:
    std::int64_t seen_ = 0;
    PlantedStripes<fault> counter_;
};

template <StripedFault fault>
Program striped(std::uint32_t threads) {
    return threads_program(threads,
                           [threads] { return std::make_unique<Striped<fault>>(threads); });
}
template <StripedFault fault>
Program reading() {
    return threads_program(2, [] { return std::make_unique<Reading<fault>>(); });
}

/// Thread 0 releases once for each other thread, and each of them acquires once.
template <SemaphoreFault fault>
class Releasing final : public ThreadsWorkload {
  public:
    explicit Releasing(std::uint32_t threads) : threads_(threads) {}
    void run(std::uint32_t index) override {
        if (index > 0) return semaphore_.acquire();
        for (std::uint32_t i = 1; i < threads_; ++i) semaphore_.release();
    }

  private:
    std::uint32_t threads_;
    PlantedSemaphore<fault> semaphore_;
};

template <SemaphoreFault fault>
Program releasing(std::uint32_t threads) {
    return threads_program(threads,
                           [threads] { return std::make_unique<Releasing<fault>>(threads); });
}

void check_killed(const Program& program, const Bound& bound = {}) {
    CHECK_FALSE(explore(program, bound).failure.empty());
}

/// Checks that no schedule of `two` threads fails, and that some schedule of `three` does.
void check_killed_by_three_alone(const Program& two, const Program& three) {
    check_proved(two);
    check_killed(three);
}

}  // namespace

TEST_CASE("threads: the mutex excludes and loses no wake-up", "[threads]") {
    check_proved(sections<RealMutex>(2, 2));
    check_proved(sections<RealMutex>(3, 1), {.preemptions = 3});
    check_proved(sections<RealMutex>(4, 1), {.preemptions = 2});
    check_proved(timed_locking<RealMutex>(2));
    check_proved(timed_locking<RealMutex>(3), {.preemptions = 3});
}

TEST_CASE("threads: a reduced search of the mutex finds the same as a search of all schedules",
          "[threads]") {
    const auto reduced = explore(sections<RealMutex>(2, 1));
    const auto all = explore(sections<RealMutex>(2, 1), {.reduction = false});
    CHECK(reduced.exhausted);
    CHECK(all.exhausted);
    CHECK(reduced.counts.schedules < all.counts.schedules);
}

TEST_CASE("threads: the counters are exact", "[threads]") {
    using Atomic = sync::BasicAtomicCounter<ModelParker>;
    using Mutexed = sync::BasicMutexedCounter<ModelParker>;
    using Stripes = sync::BasicStripedCounter<ModelParker, 2>;
    const auto plain = [](Atomic& counter, sync::Owner) { counter.add(1); };
    check_proved(adding<Atomic>(2, 2, plain));
    check_proved(adding<Atomic>(3, 2, plain));
    check_proved(adding<Atomic>(4, 1, plain));
    check_proved(adding_as_caller<Mutexed>(2, 2));
    check_proved(adding_as_caller<Mutexed>(3, 1), {.preemptions = 3});
    check_proved(adding_as_caller<Mutexed>(4, 1), {.preemptions = 2});
    check_proved(adding_as_caller<Stripes>(2, 2), {.preemptions = 3});
    check_proved(adding_as_caller<Stripes>(3, 1), {.preemptions = 3});
    check_proved(adding_as_caller<Stripes>(4, 1), {.preemptions = 2});
}

TEST_CASE("threads: a lost update of the unsynchronised counter and a hang of threads are found",
          "[threads]") {
    using Unsafe = sync::BasicUnsynchronisedCounter<ModelParker>;
    check_killed(adding<Unsafe>(2, 1, [](Unsafe& counter, sync::Owner) { counter.add(1); }));
    const auto hang = explore(releasing<SemaphoreFault::wakes_only_from_zero>(3));
    CHECK(hang.failure == "all threads that have not ended sleep");
}

TEST_CASE("threads: without a fault the planted primitives are proved", "[threads]") {
    check_proved(sections<PlantedMutex<MutexFault::none>>(2, 2));
    check_proved(sections<PlantedMutex<MutexFault::none>>(3, 1), {.preemptions = 3});
    check_proved(timed_locking<PlantedMutex<MutexFault::none>>(3));
    check_proved(limited<CounterFault::none>(3));
    check_proved(striped<StripedFault::none>(3), {.preemptions = 2});
    check_proved(reading<StripedFault::none>());
    check_proved(releasing<SemaphoreFault::none>(3));
}

TEST_CASE("threads: two participants show these planted faults", "[threads]") {
    check_killed(sections<PlantedMutex<MutexFault::takes_in_two_steps>>(2, 1));
    check_killed(sections<PlantedMutex<MutexFault::unlock_never_wakes>>(2, 1));
    check_killed(sections<PlantedMutex<MutexFault::unlock_in_two_steps>>(2, 1));
    check_killed(sections<PlantedMutex<MutexFault::wakes_before_release>>(2, 2));
    check_killed(sections<PlantedMutex<MutexFault::sleeps_unmarked>>(2, 1));
    check_killed(sections<PlantedMutex<MutexFault::sleeps_on_whatever_is_there>>(2, 2));
    check_killed(sections<PlantedMutex<MutexFault::marks_free_word>>(2, 1));
    check_killed(sections<PlantedMutex<MutexFault::marks_by_store>>(2, 1));
    check_killed(limited<CounterFault::in_two_steps>(2));
    check_killed(limited<CounterFault::ignores_refusal>(2));
    check_killed(striped<StripedFault::sums_before_closing>(3), {.preemptions = 2});
    check_killed(striped<StripedFault::forgets_closed>(3), {.preemptions = 2});
    check_killed(reading<StripedFault::empties_before_epoch>());
    check_killed(reading<StripedFault::reads_once>());
    check_killed(striped<StripedFault::keeps_parity>(3), {.preemptions = 2});
}

TEST_CASE("threads: only three participants show these planted faults", "[threads]") {
    using Forgets = PlantedMutex<MutexFault::slept_takes_unmarked>;
    check_killed_by_three_alone(sections<Forgets>(2, 1), sections<Forgets>(3, 1));
    using Swallows = PlantedMutex<MutexFault::timeout_swallows_wake>;
    check_killed_by_three_alone(timed_locking<Swallows>(2), timed_locking<Swallows>(3));
    check_killed_by_three_alone(limited<CounterFault::guarded_fetch_add>(2),
                                limited<CounterFault::guarded_fetch_add>(3));
    constexpr auto from_zero = SemaphoreFault::wakes_only_from_zero;
    check_killed_by_three_alone(releasing<from_zero>(2), releasing<from_zero>(3));
}

}  // namespace tabacus::test
