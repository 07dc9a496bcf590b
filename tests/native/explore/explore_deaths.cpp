// Threads that die at every step of a primitive of shared memory, the condition variable and the once
// flag, under every interleaving. Copies with planted faults show that the explorer finds them.
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lab/explore/search.hpp"
#include "planted/planted_robust.hpp"
#include "seeds.hpp"
#include "tabacus/sync/mutexed_counter.hpp"
#include "tabacus/sync/striped_counter.hpp"

namespace tabacus::test::deaths {
namespace {

using lab::Bound;
using lab::ModelAtomic;
using lab::ModelParker;
using lab::Program;
using lab::Search;
using lab::threads_program;
using lab::ThreadsWorkload;
using sync::CallResult;
using sync::LockResult;
using sync::Owner;

/// Whether thread 0 may die at any step of a run.
enum class Deaths : bool { none, one };

/// A workload in which thread 0 may die.
class Mortal : public ThreadsWorkload {
  public:
    Mortal(std::uint32_t threads, Deaths deaths) : threads_(threads), deaths_(deaths) {}
    bool mortal(std::uint32_t index) final { return index == 0 && deaths_ == Deaths::one; }
    void run(std::uint32_t index) final {
        if (index < threads_) return work(index, index + 1);
        died_ = true;
        report(1);
    }

  protected:
    virtual void work(std::uint32_t index, Owner self) = 0;
    virtual void report(Owner dead) = 0;
    [[nodiscard]] bool died() const { return died_; }
    [[nodiscard]] std::uint32_t threads() const { return threads_; }

  private:
    std::uint32_t threads_;
    Deaths deaths_;
    bool died_ = false;
};

template <class Workload>
Program program(std::uint32_t threads, Deaths deaths) {
    return threads_program(
        threads, [threads, deaths] { return std::make_unique<Workload>(threads, deaths); });
}

/// Every interleaving: a schedule is given up only in a state that was reached before.
constexpr Bound every = {.visited = true};

constexpr const char* unexplored = "not everything was explored";

/// Returns the failure, or an empty text if everything within the bound was explored without one.
std::string failure_of(const Program& program, Bound bound) {
    // Under a sanitizer threads have no states that could be equal.
    if (sanitized) bound.visited = false;
    Search search(program, bound);
    search.explore(100'000'000);
    if (search.failed_run()) return search.failed_run()->failure;
    return search.exhausted() ? "" : unexplored;
}

/// Whether no run fails in which thread 0 may die.
template <class Workload>
bool survives(std::uint32_t threads, const Bound& bound = {}) {
    return failure_of(program<Workload>(threads, Deaths::one), bound).empty();
}
/// Whether no run fails in which no thread dies.
template <class Workload>
bool lives(std::uint32_t threads, const Bound& bound = {}) {
    return failure_of(program<Workload>(threads, Deaths::none), bound).empty();
}
/// Whether the explorer finds a fault in runs with deaths.
template <class Workload>
bool fails_with_deaths(std::uint32_t threads, const Bound& bound = {}) {
    const auto failure = failure_of(program<Workload>(threads, Deaths::one), bound);
    return !failure.empty() && failure != unexplored;
}
/// Whether the explorer finds a fault in runs without deaths.
template <class Workload>
bool fails(std::uint32_t threads, const Bound& bound = {}) {
    const auto failure = failure_of(program<Workload>(threads, Deaths::none), bound);
    return !failure.empty() && failure != unexplored;
}

/// All threads change two cells inside a mutex. A thread that dies in between leaves them unequal,
/// and the next owner makes them equal.
template <class Mutex, std::uint32_t rounds = 1>
class Sections final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string judge() override {
        if (torn_) return "an owner did not learn of the death, or two threads were inside at once";
        if (learnt_ > (died_inside_ ? 1U : 0U)) return "two owners learnt of the death";
        const auto last = learnt_ > 0 ? LockResult::owner_died : mutex_.try_lock(99);
        return (last == LockResult::owner_died) == died_inside_ ? "" : "nobody learnt of the death";
    }

  protected:
    void work(std::uint32_t /*index*/, Owner self) override {
        for (std::uint32_t i = 0; i < rounds; ++i) {
            if (mutex_.lock(self) == LockResult::owner_died) {
                ++learnt_;
                second_.store(first_.load());
                mutex_.mark_consistent(self);
            }
            const auto next = first_.load() + 1;
            torn_ |= second_.load() + 1 != next;
            first_.store(next);
            second_.store(next);
            mutex_.unlock(self);
        }
    }
    void report(Owner dead) override {
        died_inside_ = mutex_.owner() == dead;
        mutex_.owner_died(dead);
    }

  private:
    Mutex mutex_;
    ModelAtomic<std::uint32_t> first_{0};
    ModelAtomic<std::uint32_t> second_{0};
    std::uint32_t learnt_ = 0;
    bool torn_ = false;
    bool died_inside_ = false;
};

using Mutex = sync::BasicMutex<ModelParker>;
template <RobustFault fault, std::uint32_t rounds = 1>
using PlantedSections = Sections<PlantedRobustMutex<fault>, rounds>;

/// The owner after the dead one does not mark the mutex as consistent. All others get an error.
class Unrecovered final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string judge() override {
        const auto last = mutex_.try_lock(99);
        if (learnt_ > 1) return "two owners learnt of the death";
        if (learnt_ == 1 && last != LockResult::not_recoverable) return "the mutex can be acquired";
        if (learnt_ == 0 && refused_ != 0) return "the mutex is not recoverable without a reason";
        return "";
    }

  protected:
    void work(std::uint32_t /*index*/, Owner self) override {
        const auto got = mutex_.lock(self);
        learnt_ += got == LockResult::owner_died ? 1U : 0U;
        refused_ += got == LockResult::not_recoverable ? 1U : 0U;
        if (holds(got)) mutex_.unlock(self);
    }
    void report(Owner dead) override { mutex_.owner_died(dead); }

  private:
    sync::BasicMutex<ModelParker> mutex_;
    std::uint32_t learnt_ = 0;
    std::uint32_t refused_ = 0;
};

/// The second add of this amount to a cell makes a striped counter close its cells.
constexpr std::int64_t amount = std::int64_t{1} << 47;

/// All threads add. The counter has all adds that have returned, and at most one more, that of the
/// dead thread. Afterwards it can still be added to.
template <class Counter, std::uint32_t rounds = 1>
class Adds final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string judge() override {
        const auto total = counter_.value();
        const bool exact = total == added_ || (died() && total == added_ + amount);
        if (!exact) return "an add was lost or invented";
        if (counter_.add(1, {99, false}).outcome != sync::Outcome::added) return "no more adds";
        return counter_.value() == total + 1 ? "" : "an add after the death was lost or invented";
    }

  protected:
    void work(std::uint32_t /*index*/, Owner self) override {
        for (std::uint32_t i = 0; i < rounds; ++i) {
            if (counter_.add(amount, {self, true}).outcome == sync::Outcome::added)
                added_ += amount;
        }
    }
    void report(Owner dead) override { counter_.owner_died(dead); }

  private:
    Counter counter_;
    std::int64_t added_ = 0;
};

/// Two threads add twice, so that each closes the cells of a striped counter, and one reads. The
/// counter has all adds that have returned, and at most one more, that of the dead thread.
class Reading final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }
    std::string judge() override {
        if (seen_ > 4 * amount) return "a reader saw too much";
        const auto total = counter_.value();
        const bool exact = total == added_ || (died() && total == added_ + amount);
        return exact ? "" : "an add was lost or invented";
    }

  protected:
    void work(std::uint32_t index, Owner self) override {
        if (index == 2) {
            seen_ = counter_.value();
            return;
        }
        for (int i = 0; i < 2; ++i) {
            counter_.bump(amount, {self, true});
            added_ += amount;
        }
    }
    void report(Owner dead) override { counter_.owner_died(dead); }

  private:
    sync::BasicStripedCounter<ModelParker, 2> counter_;
    std::int64_t seen_ = 0;
    std::int64_t added_ = 0;
};

/// The thread that dies: one that waits for an item, or the one that makes all items.
enum class Role : std::uint8_t { consumer, producer };

/// All threads but one consume one item each, and the other one makes as many items. It notifies one
/// consumer, and each consumer notifies the next. If the producer dies before it has made the items,
/// the reporter makes them.
template <class Condition, Role role>
class Items final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }

  protected:
    void work(std::uint32_t index, Owner self) override {
        if (index == (role == Role::producer ? 0U : 1U)) return produce(self);
        lock_with([&] { return mutex_.lock(self); }, self);
        while (items_.load() == 0) {
            lock_with([&] { return condition_.wait(mutex_, self); }, self);
        }
        items_.store(items_.load() - 1);
        mutex_.unlock(self);
        condition_.notify_one();
    }
    void report(Owner dead) override {
        mutex_.owner_died(dead);
        condition_.owner_died(dead);
        if (role == Role::producer && !made_) produce(threads() + 1);
    }

  private:
    template <class Lock>
    void lock_with(Lock lock, Owner self) {
        if (lock() == LockResult::owner_died) mutex_.mark_consistent(self);
    }
    void produce(Owner self) {
        lock_with([&] { return mutex_.lock(self); }, self);
        items_.store(threads() - 1);
        made_ = true;
        mutex_.unlock(self);
        condition_.notify_one();
    }

    sync::BasicMutex<ModelParker> mutex_;
    Condition condition_;
    ModelAtomic<std::uint32_t> items_{0};
    bool made_ = false;
};

template <ConditionFault fault, Role mortal = Role::consumer>
using PlantedItems = Items<PlantedCondition<fault>, mortal>;
template <Role mortal>
using RealItems = Items<sync::BasicCondition<ModelParker>, mortal>;

/// Thread 0 may give up, thread 1 makes one item fewer than there are other threads, and the last
/// notification is for all.
class GivingUp final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }

  protected:
    void work(std::uint32_t index, Owner self) override {
        mutex_.lock(self);
        if (index == 1) {
            ready_.store(1);
            mutex_.unlock(self);
            return condition_.notify_one();
        }
        std::int64_t now_ns = 0;
        while (ready_.load() == 0) {
            if (index != 0) {
                condition_.wait(mutex_, self);
            } else if (!condition_.wait_for(mutex_, self, 10, [&] { return now_ns += 6; })
                            .notified) {
                break;
            }
        }
        mutex_.unlock(self);
        if (index == 0) condition_.notify_one();  // it may have been woken in place of another
    }
    void report(Owner /*dead*/) override {}

  private:
    sync::BasicMutex<ModelParker> mutex_;
    sync::BasicCondition<ModelParker> condition_;
    ModelAtomic<std::uint32_t> ready_{0};
};

/// All threads wait until the last one has set a flag and notified all.
class Broadcast final : public Mortal {
  public:
    using Mortal::Mortal;
    std::span<std::byte> memory() override { return lab::memory_of(*this); }

  protected:
    void work(std::uint32_t index, Owner self) override {
        mutex_.lock(self);
        if (index + 1 == threads()) {
            ready_.store(1);
            mutex_.unlock(self);
            condition_.notify_all();
            return;
        }
        condition_.wait(mutex_, self, [&] { return ready_.load() != 0; });
        mutex_.unlock(self);
    }
    void report(Owner dead) override {
        mutex_.owner_died(dead);
        condition_.owner_died(dead);
    }

  private:
    sync::BasicMutex<ModelParker> mutex_;
    sync::BasicCondition<ModelParker> condition_;
    ModelAtomic<std::uint32_t> ready_{0};
};

/// All threads call one function. With `throws`, it throws in thread 0.
template <class Once, bool throws = false>
class Calls final : public Mortal {
  public:
    using Mortal::Mortal;
    /// A mutex is unlocked while an exception is handled.
    std::span<std::byte> memory() override {
        return throws ? std::span<std::byte>() : lab::memory_of(*this);
    }
    std::string judge() override {
        if (early_) return "a call returned before the function had run";
        if (refused_) return "a call was refused";
        const bool exact = ended_ == 1 || (died() && dead_ran_ && ended_ == 2);
        return exact || (throws && threads() == 1) ? "" : "the function did not run exactly once";
    }

  protected:
    void work(std::uint32_t index, Owner self) override {
        try {
            const auto result = once_.call(self, [&] {
                const auto before = work_.load();
                if (throws && index == 0) throw Failed{};
                work_.store(before + 1);
                ++ended_;
                dead_ran_ |= index == 0;
            });
            refused_ |= result == CallResult::would_deadlock;
            early_ |= work_.load() == 0;
        } catch (...) {
            failed_ = true;
        }
    }
    void report(Owner dead) override { once_.owner_died(dead); }

  private:
    struct Failed {};

    Once once_;
    ModelAtomic<std::uint32_t> work_{0};
    std::uint32_t ended_ = 0;
    bool dead_ran_ = false;
    bool early_ = false;
    bool refused_ = false;
    bool failed_ = false;
};

using RealOnce = sync::BasicOnceFlag<ModelParker>;
template <OnceFault fault, bool throws = false>
using PlantedCalls = Calls<PlantedOnce<fault>, throws>;

}  // namespace

TEST_CASE("deaths: a mutex survives an owner or a waiter that dies at any step", "[threads]") {
    CHECK(survives<Sections<Mutex>>(2, every));
    CHECK(survives<Sections<Mutex>>(3, {.preemptions = 1}));
    CHECK(survives<Unrecovered>(2, every));
    CHECK(survives<Unrecovered>(3, {.preemptions = 2}));
}

TEST_CASE("deaths: a counter keeps all adds that have returned", "[threads]") {
    using Mutexed = sync::BasicMutexedCounter<ModelParker>;
    using Stripes = sync::BasicStripedCounter<ModelParker, 2>;
    CHECK(survives<Adds<Mutexed, 2>>(2, every));
    CHECK(survives<Adds<Mutexed>>(3, {.preemptions = 3}));
    CHECK(survives<Adds<Mutexed>>(4, {.preemptions = 2}));
    CHECK(survives<Adds<Stripes, 2>>(2, every));
    CHECK(survives<Adds<Stripes>>(3, {.preemptions = 3}));
    CHECK(survives<Adds<Stripes>>(4, {.preemptions = 2}));
    CHECK(survives<Reading>(3, {.preemptions = 3}));
}

TEST_CASE("deaths: a condition variable loses no wake-up", "[threads]") {
    CHECK(lives<RealItems<Role::consumer>>(2, every));
    CHECK(lives<RealItems<Role::consumer>>(3, {.preemptions = 2}));
    CHECK(lives<GivingUp>(2, every));
    CHECK(lives<GivingUp>(3, {.preemptions = 2}));
    CHECK(lives<Broadcast>(3, {.preemptions = 2}));
}

TEST_CASE("deaths: a condition variable survives a thread that dies at any step", "[threads]") {
    CHECK(survives<RealItems<Role::consumer>>(2, {.preemptions = 3}));
    CHECK(survives<RealItems<Role::producer>>(2, {.preemptions = 3}));
    CHECK(survives<RealItems<Role::consumer>>(3, {.preemptions = 1}));
    CHECK(survives<RealItems<Role::producer>>(3, {.preemptions = 1}));
}

TEST_CASE("deaths: a function runs once, whichever thread throws or dies", "[threads]") {
    CHECK(survives<Calls<RealOnce>>(2, every));
    CHECK(survives<Calls<RealOnce>>(3, {.preemptions = 2}));
    CHECK(lives<Calls<RealOnce, true>>(2, every));
    CHECK(lives<Calls<RealOnce, true>>(3, {.preemptions = 2}));
}

TEST_CASE("deaths: more preemptions and more threads", "[.][long]") {
    CHECK(survives<Sections<Mutex, 2>>(2, every));
    CHECK(survives<Sections<Mutex>>(3, {.preemptions = 3}));
    CHECK(survives<Sections<Mutex>>(4, {.preemptions = 2}));
    CHECK(survives<Unrecovered>(3, {.preemptions = 3}));
    CHECK(lives<RealItems<Role::consumer>>(3, {.preemptions = 3}));
    CHECK(lives<RealItems<Role::consumer>>(4, {.preemptions = 2}));
    CHECK(survives<RealItems<Role::consumer>>(2, every));
    CHECK(survives<RealItems<Role::producer>>(2, every));
    CHECK(survives<RealItems<Role::consumer>>(3, {.preemptions = 3}));
    CHECK(survives<RealItems<Role::producer>>(3, {.preemptions = 3}));
    CHECK(survives<RealItems<Role::consumer>>(4, {.preemptions = 2}));
    CHECK(lives<GivingUp>(3, {.preemptions = 3}));
    CHECK(survives<Broadcast>(3, {.preemptions = 3}));
    CHECK(survives<Calls<RealOnce>>(3, {.preemptions = 3}));
    CHECK(survives<Calls<RealOnce>>(4, {.preemptions = 2}));
    CHECK(lives<Calls<RealOnce, true>>(4, {.preemptions = 2}));
}

TEST_CASE("deaths: without a fault the planted primitives survive", "[threads]") {
    CHECK(survives<PlantedSections<RobustFault::none>>(2, every));
    CHECK(survives<PlantedItems<ConditionFault::none>>(3, {.preemptions = 1}));
    CHECK(survives<PlantedCalls<OnceFault::none>>(3, {.preemptions = 1}));
    CHECK(lives<PlantedCalls<OnceFault::none, true>>(2, every));
}

TEST_CASE("deaths: two participants show these planted faults", "[threads]") {
    CHECK(fails_with_deaths<PlantedSections<RobustFault::ignores_deaths>>(2, every));
    CHECK(fails_with_deaths<PlantedSections<RobustFault::death_frees>>(2, every));
    CHECK(fails_with_deaths<PlantedSections<RobustFault::wakes_only_for_owners>>(2, every));
    CHECK(fails<PlantedItems<ConditionFault::unlocks_before_announcing>>(2, every));
    CHECK(fails<PlantedItems<ConditionFault::notifies_without_counting>>(2, every));
    CHECK(fails<PlantedCalls<OnceFault::looks_once>>(2, every));
    CHECK(fails<PlantedCalls<OnceFault::done_before_it_runs>>(2, every));
    CHECK(fails<PlantedCalls<OnceFault::failure_is_done, true>>(2, every));
}

TEST_CASE("deaths: only three participants show these planted faults", "[threads]") {
    using Twice = PlantedSections<RobustFault::news_twice>;
    CHECK(survives<Twice>(2, every));
    CHECK(fails_with_deaths<Twice>(3, {.preemptions = 1}));
    using Forgets = PlantedItems<ConditionFault::forgets_other_waiters>;
    CHECK(lives<Forgets>(2, every));
    CHECK(fails<Forgets>(3, {.preemptions = 2}));
    using Ignores = PlantedItems<ConditionFault::ignores_deaths>;
    CHECK(survives<Ignores>(2, every));
    CHECK(fails_with_deaths<Ignores>(3, {.preemptions = 2}));
    using Leaves = PlantedCalls<OnceFault::leaves_inconsistent>;
    CHECK(survives<Leaves>(2, every));
    CHECK(fails_with_deaths<Leaves>(3, {.preemptions = 2}));
}

}  // namespace tabacus::test::deaths
