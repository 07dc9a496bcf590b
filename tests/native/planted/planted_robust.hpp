// The robust mutex, the condition variable and the once flag of tabacus/sync with one fault in each,
// over modelled atomics.
#pragma once

#include "lab/threads/model.hpp"
#include "tabacus/sync/call_once.hpp"
#include "tabacus/sync/condition.hpp"
#include "tabacus/sync/mutex.hpp"

namespace tabacus::test {

enum class RobustFault : std::uint8_t {
    none,
    ignores_deaths,
    death_frees,  // the next owner does not learn of the death
    news_twice,   // mark_consistent() does nothing, so that the owner after next learns of it too
    wakes_only_for_owners  // a wake-up that the dead thread had received or owed is lost
};

template <RobustFault fault>
class PlantedRobustMutex {
  public:
    using Owner = sync::Owner;
    static constexpr Owner reporter = 77;

    sync::LockResult lock(Owner self) { return mutex_.lock(self); }
    sync::LockResult try_lock(Owner self) { return mutex_.try_lock(self); }
    [[nodiscard]] Owner owner() const { return mutex_.owner(); }

    void owner_died(Owner dead) {
        if constexpr (fault == RobustFault::ignores_deaths) {
            return;
        } else if constexpr (fault == RobustFault::death_frees) {
            if (mutex_.take_over(dead, reporter)) mutex_.unlock(reporter);
            return;
        } else if constexpr (fault == RobustFault::wakes_only_for_owners) {
            if (owner() != dead) return;
        }
        mutex_.owner_died(dead);
    }
    void mark_consistent(Owner self) {
        if constexpr (fault != RobustFault::news_twice) mutex_.mark_consistent(self);
    }
    void unlock(Owner self) {
        if constexpr (fault == RobustFault::news_twice) {
            if (mutex_.inconsistent()) return mutex_.owner_died(self);
        }
        mutex_.unlock(self);
    }

  private:
    sync::BasicMutex<lab::ModelParker> mutex_;
};

enum class ConditionFault : std::uint8_t {
    none,
    unlocks_before_announcing,  // a notification that comes in between is lost
    notifies_without_counting,  // a waiter that is about to sleep misses it
    forgets_other_waiters,      // notify_one() clears the flag although others wait
    ignores_deaths
};

template <ConditionFault fault>
class PlantedCondition {
  public:
    using Parks = lab::ModelParker;
    using Mutex = sync::BasicMutex<Parks>;

    sync::LockResult wait(Mutex& mutex, sync::Owner self) {
        if constexpr (fault == ConditionFault::unlocks_before_announcing) mutex.unlock(self);
        const auto seen = word_.fetch_or(1) | 1;
        if constexpr (fault != ConditionFault::unlocks_before_announcing) mutex.unlock(self);
        auto parked = sync::Parked::changed;
        while (word_.load() == seen && parked != sync::Parked::notified) {
            parked = Parks::park(word_, seen, sync::forever_ns);
        }
        return mutex.lock(self);
    }
    void notify_one() {
        if ((word_.load() & 1) == 0) return;
        if constexpr (fault == ConditionFault::forgets_other_waiters) word_.fetch_sub(1);
        if constexpr (fault != ConditionFault::notifies_without_counting) word_.fetch_add(2);
        Parks::unpark_one(word_);
    }
    void owner_died(sync::Owner /*dead*/) {
        if constexpr (fault == ConditionFault::ignores_deaths) return;
        word_.fetch_add(2);
        Parks::unpark_all(word_);
    }

  private:
    lab::ModelAtomic<std::uint32_t> word_{0};
};

enum class OnceFault : std::uint8_t {
    none,
    looks_once,           // does not look again once it holds the mutex
    done_before_it_runs,  // other callers return too early
    failure_is_done,      // a function that throws counts as run
    leaves_inconsistent   // a successor of a dead thread does not mark the mutex as consistent
};

template <OnceFault fault>
class PlantedOnce {
  public:
    using Mutex = sync::BasicMutex<lab::ModelParker>;

    template <class Function>
    sync::CallResult call(sync::Owner self, Function function) {
        if (done()) return sync::CallResult::done;
        const auto lock = mutex_.lock(self);
        if (!sync::holds(lock)) return sync::CallResult::would_deadlock;
        if (fault != OnceFault::leaves_inconsistent) mutex_.mark_consistent(self);
        if (fault != OnceFault::looks_once && done()) {
            mutex_.unlock(self);
            return sync::CallResult::done;
        }
        if constexpr (fault == OnceFault::done_before_it_runs) done_.store(1);
        const bool failed = !run(function);
        if (!failed || fault == OnceFault::failure_is_done) done_.store(1);
        mutex_.unlock(self);
        if (failed) throw Failed{};
        return sync::CallResult::ran;
    }
    [[nodiscard]] bool done() const { return done_.load() != 0; }
    void owner_died(sync::Owner dead) { mutex_.owner_died(dead); }

  private:
    struct Failed {};

    template <class Function>
    static bool run(Function& function) {
        try {
            function();
            return true;
        } catch (...) {
            return false;
        }
    }

    Mutex mutex_;
    lab::ModelAtomic<std::uint32_t> done_{0};
};

}  // namespace tabacus::test
