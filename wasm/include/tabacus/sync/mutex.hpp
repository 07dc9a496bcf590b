#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/parker.hpp"

// A mutex that knows its owner, for threads that may block and threads that may not.
//
// Promises: mutual exclusion. An unlock notifies only if a thread may be waiting. An unlock by a
// thread that is not the owner changes nothing. A thread that gives up waiting consumes no wake-up
// that another thread needs. A thread that is terminated while it waits delays another thread by at
// most one sleep of sleep_max_ns.
// Does not provide: fairness (a running thread may overtake a sleeping one), recursion (it is
// reported as would_deadlock), and detection of an owner that was terminated.
//
// The whole state is one word:
//
//   owner   contended   meaning                       transitions
//   0       0           free                          any thread: lock
//   self    0           held, no thread sleeps        owner: unlocks without a notify
//                                                     waiter: sets `contended`, then sleeps
//   self    1           held, a thread may sleep      owner: unlocks, then wakes
//   0       1           impossible: unlock stores 0
//
// `contended` may be set while no thread sleeps, which costs one needless wake-up. It is never
// clear while a thread sleeps on a held mutex, unless a wake-up is on its way to a thread that will
// set it again or pass the wake-up on. A thread that has slept therefore takes the mutex as
// contended, because other threads may still sleep. lock() sleeps for at most sleep_max_ns at a
// time, because a wake-up may have gone to a thread that is dead.

namespace tabacus::sync {

/// The owner of a mutex: a number that no other thread has at the same time, from 1 to owner_max.
/// 0 means that there is no owner.
using Owner = std::uint32_t;

inline constexpr Owner owner_max = UINT32_MAX >> 1;

enum class LockResult : std::uint32_t {
    acquired = 0,
    would_deadlock = 1,  // the caller holds it already
    timed_out = 2,
    busy = 3,  // another thread holds it, and the caller does not sleep
};

enum class UnlockResult : std::uint32_t { released = 0, not_owner = 1 };

/// `Parks` is the platform's parker, a test's parker that counts calls, or the laboratory's model.
template <class Parks = PlatformParker>
class BasicMutex {
  public:
    static constexpr std::uint32_t contended_bit = 1;

    /// Sleeps until the caller owns the mutex. Returns `acquired` or `would_deadlock`.
    LockResult lock(Owner self) {
        if (try_lock(self) == LockResult::acquired) return LockResult::acquired;
        return lock_slow(self, forever_ns, [] { return std::int64_t{0}; });
    }

    /// Locks as lock() does, but returns `timed_out` after timeout_ns. `now_ns()` is a monotonic
    /// clock in nanoseconds.
    template <class NowNs>
    LockResult lock_for(Owner self, std::int64_t timeout_ns, NowNs now_ns) {
        if (try_lock(self) == LockResult::acquired) return LockResult::acquired;
        return lock_slow(self, now_ns() + timeout_ns, now_ns);
    }

    /// Returns `acquired` or `busy`, at once.
    LockResult try_lock(Owner self) {
        return take(held(self)) ? LockResult::acquired : LockResult::busy;
    }

    /// Tries for a bounded time, then gives up with `busy`. For a thread that may not sleep, around
    /// a section that is known to be short.
    [[gnu::noinline]] LockResult lock_spinning(Owner self) {
        for (std::uint32_t round = 0; round < Parks::spin_rounds_max; ++round) {
            if (word_.load(std::memory_order_relaxed) == 0 && take(held(self)))
                return LockResult::acquired;
        }
        return LockResult::busy;
    }

    /// Does one step of an acquire. The caller sleeps between the steps, with Atomics.wait or
    /// waitAsync. Returns 0 if the mutex is acquired, else the value of the word to sleep on.
    /// `slept`: whether the caller has slept since this acquire began.
    ///
    /// A caller that gives up must do so after a step and before the next sleep, never directly
    /// after a sleep. Its last sleep may have consumed a wake-up that another waiter needs. A step
    /// has either taken the mutex or marked it as contended, and the unlock of a contended mutex
    /// wakes the next waiter.
    std::uint32_t step(Owner self, bool slept) {
        const std::uint32_t mine = slept ? held(self) | contended_bit : held(self);
        for (;;) {
            if (take(mine)) return 0;
            if (const std::uint32_t word = mark_contended()) return word;
        }
    }

    /// Does one step of an acquire, and sleeps for at most slice_ns if the mutex is held. Returns
    /// `acquired`, `would_deadlock`, `timed_out` if the whole slice has passed, or else `busy`.
    /// `slept` belongs to this acquire, and is false at first. A caller that gives up must follow
    /// the rule of step().
    LockResult lock_slice(Owner self, std::int64_t slice_ns, bool& slept) {
        const std::uint32_t word = step(self, slept);
        if (word == 0) return LockResult::acquired;
        if (word >> 1 == self) return LockResult::would_deadlock;
        const Parked parked = Parks::park(word_, word, slice_ns);
        slept |= parked == Parked::notified;
        return parked == Parked::timed_out ? LockResult::timed_out : LockResult::busy;
    }

    /// Transfers the mutex from `dead`, an owner that is dead, to `self`. What the mutex guards is
    /// in the state in which the dead thread left it. Returns false, and changes nothing, if `dead`
    /// does not hold the mutex.
    bool take_over(Owner dead, Owner self) {
        std::uint32_t word = word_.load();
        while (word >> 1 == dead && word != 0) {
            if (word_.compare_exchange_weak(word, held(self) | contended_bit)) return true;
        }
        return false;
    }

    UnlockResult unlock(Owner self) {
        std::uint32_t word = held(self);
        if (word_.compare_exchange_strong(word, 0)) return UnlockResult::released;
        // The second exchange fails only if another thread has taken the mutex over meanwhile,
        // because nothing else changes the word of a mutex that is held and contended.
        if (word != (held(self) | contended_bit)) return UnlockResult::not_owner;
        if (!word_.compare_exchange_strong(word, 0)) return UnlockResult::not_owner;
        wake_next();
        return UnlockResult::released;
    }

    /// Registers an asynchronous waiter. Its wake-up is a task of its thread's event loop, and that
    /// thread may be asleep in another lock. So while one is registered, unlock() wakes all
    /// waiters, and no other waiter depends on it. It stays registered from before its first step
    /// until its last promise has settled, even if it gave up, because a promise cannot be removed
    /// from the queue of the word.
    void enter_async() { async_waiters_.fetch_add(1); }
    /// Ends what enter_async() began.
    void leave_async() { async_waiters_.fetch_sub(1); }

    [[nodiscard]] bool locked() const { return word_.load() != 0; }

    /// Returns the owner, or 0.
    [[nodiscard]] Owner owner() const { return word_.load() >> 1; }

  private:
    static constexpr std::uint32_t held(Owner owner) { return owner << 1; }

    bool take(std::uint32_t mine) {
        std::uint32_t expected = 0;
        return word_.compare_exchange_strong(expected, mine);
    }

    /// Marks the mutex as contended and returns its word, or returns 0 if the mutex is free.
    std::uint32_t mark_contended() {
        std::uint32_t word = word_.load();
        while (word != 0 && (word & contended_bit) == 0) {
            if (word_.compare_exchange_weak(word, word | contended_bit)) word |= contended_bit;
        }
        return word;
    }

    bool spin(std::uint32_t mine) {
        for (std::uint32_t pause = Parks::spin_pause_first; pause <= Parks::spin_pause_max;
             pause *= 2) {
            for (std::uint32_t i = 0; i < pause; ++i)
                std::atomic_signal_fence(std::memory_order_seq_cst);
            if (word_.load(std::memory_order_relaxed) == 0 && take(mine)) return true;
        }
        return false;
    }

    template <class NowNs>
    [[gnu::noinline]] LockResult lock_slow(Owner self, std::int64_t deadline_ns, NowNs now_ns) {
        if (owner() == self) return LockResult::would_deadlock;
        bool slept = false;
        for (;;) {
            if (spin(slept ? held(self) | contended_bit : held(self))) return LockResult::acquired;
            const std::uint32_t word = step(self, slept);
            if (word == 0) return LockResult::acquired;
            std::int64_t rest_ns = Parks::sleep_max_ns;
            if (deadline_ns != forever_ns) {
                const std::int64_t left_ns = deadline_ns - now_ns();
                if (left_ns <= 0) return LockResult::timed_out;
                if (rest_ns == forever_ns || left_ns < rest_ns) rest_ns = left_ns;
            }
            slept |= Parks::park(word_, word, rest_ns) != Parked::changed;
        }
    }

    [[gnu::noinline]] void wake_next() {
        if (async_waiters_.load() != 0) {
            Parks::unpark_all(word_);
        } else {
            Parks::unpark_one(word_);
        }
    }

    using Cell = Parks::template Atomic<std::uint32_t>;
    Cell word_{0};
    Cell async_waiters_{0};
};

using Mutex = BasicMutex<>;

/// RAII guard: holds a mutex until it is destroyed. The caller must check `acquired` first.
template <class Parks = PlatformParker>
class Held {
  public:
    Held(BasicMutex<Parks>& mutex, Owner self, bool may_sleep)
        : mutex_(mutex),
          self_(self),
          acquired(may_sleep ? mutex.lock(self) == LockResult::acquired
                             : mutex.lock_spinning(self) == LockResult::acquired) {}
    ~Held() {
        if (acquired) mutex_.unlock(self_);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

  private:
    BasicMutex<Parks>& mutex_;
    const Owner self_;

  public:
    const bool acquired;
};

}  // namespace tabacus::sync
