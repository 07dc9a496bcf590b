#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/parker.hpp"

// A mutex that knows its owner, for threads that may block and threads that may not. It is robust: it
// survives the death of a thread that holds it (POSIX calls such a mutex PTHREAD_MUTEX_ROBUST).
//
// Promises: mutual exclusion. An unlock notifies only if a thread may be waiting. An unlock by a
// thread that is not the owner changes nothing. A thread that gives up waiting consumes no wake-up
// that another thread needs. If a thread is terminated while it waits, another one may be delayed
// until that death is reported, and by at most one sleep of sleep_max_ns. If a thread dies while it
// holds the mutex, then owner_died() makes exactly one later acquirer get `owner_died` with the
// mutex.
// Does not provide: fairness (a running thread may overtake a sleeping one), recursion (it is
// reported as would_deadlock), and detection of a death: somebody must call owner_died().
//
// The whole state is one word:
//
//   owner   died   contended   meaning                      transitions
//   0       0      0           free                         any thread: lock
//   self    0      0           held, no thread sleeps       owner: unlocks without a notify
//                                                           waiter: sets `contended`, then sleeps
//   self    0      1           held, a thread may sleep     owner: unlocks, then wakes
//   0       1      0 or 1      the owner has died           any thread: lock, which sets the owner
//                                                           and keeps `died`
//   self    1      0 or 1      held, and what the mutex     owner: mark_consistent clears `died`;
//                              guards may be inconsistent   unlock makes it not recoverable
//   max     1      1           not recoverable              none
//   0       0      1           impossible: unlock stores 0
//
// owner_died() leads from every state of a dead owner to "the owner has died", so that `died` stays
// set if the successor dies as well.
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

inline constexpr Owner owner_max = (UINT32_MAX >> 2) - 1;

enum class LockResult : std::uint32_t {
    acquired = 0,
    would_deadlock = 1,  // the caller holds it already
    timed_out = 2,
    busy = 3,        // another thread holds it, and the caller does not sleep
    owner_died = 4,  // the caller holds it; the owner before died, and what the mutex guards is
                     // in the state in which that thread left it (EOWNERDEAD)
    not_recoverable = 5,  // a thread unlocked it without mark_consistent() (ENOTRECOVERABLE)
};

/// Whether the caller of a lock function holds the mutex.
constexpr bool holds(LockResult result) {
    return result == LockResult::acquired || result == LockResult::owner_died;
}

enum class UnlockResult : std::uint32_t { released = 0, not_owner = 1 };

/// `Parks` is the platform's parker, a test's parker that counts calls, or the laboratory's model.
template <class Parks = PlatformParker>
class BasicMutex {
  public:
    static constexpr std::uint32_t contended_bit = 1;
    static constexpr std::uint32_t died_bit = 2;
    static constexpr std::uint32_t owner_shift = 2;
    static constexpr std::uint32_t not_recoverable_word = UINT32_MAX;

    /// Sleeps until the caller owns the mutex. Returns `acquired`, `owner_died`, `would_deadlock` or
    /// `not_recoverable`.
    LockResult lock(Owner self) {
        if (take(held(self))) return LockResult::acquired;
        return lock_slow(self, forever_ns, [] { return std::int64_t{0}; });
    }

    /// Locks as lock() does, but returns `timed_out` after timeout_ns. `now_ns()` is a monotonic
    /// clock in nanoseconds.
    template <class NowNs>
    LockResult lock_for(Owner self, std::int64_t timeout_ns, NowNs now_ns) {
        if (take(held(self))) return LockResult::acquired;
        return lock_slow(self, now_ns() + timeout_ns, now_ns);
    }

    /// Returns `acquired`, `owner_died`, `busy` or `not_recoverable`, at once.
    LockResult try_lock(Owner self) {
        return take(held(self)) ? LockResult::acquired : claim(held(self));
    }

    /// Tries for a bounded time, then gives up with `busy`. For a thread that may not sleep, around
    /// a section that is known to be short.
    [[gnu::noinline]] LockResult lock_spinning(Owner self) {
        for (std::uint32_t round = 0; round < Parks::spin_rounds_max; ++round) {
            if (word_.load(std::memory_order_relaxed) >> owner_shift != 0) continue;
            const LockResult got = claim(held(self));
            if (got != LockResult::busy) return got;
        }
        return LockResult::busy;
    }

    /// Does one step of an acquire. The caller sleeps between the steps, with Atomics.wait or
    /// waitAsync. Returns 0 if the mutex is acquired, else the value of the word: either
    /// `not_recoverable_word`, or the value to sleep on. `slept`: whether the caller has slept since
    /// this acquire began. If the mutex is acquired, inconsistent() tells `acquired` from
    /// `owner_died`.
    ///
    /// A caller that gives up must do so after a step and before the next sleep, never directly
    /// after a sleep. Its last sleep may have consumed a wake-up that another waiter needs. A step
    /// has either taken the mutex or marked it as contended, and the unlock of a contended mutex
    /// wakes the next waiter.
    std::uint32_t step(Owner self, bool slept) {
        const std::uint32_t mine = slept ? held(self) | contended_bit : held(self);
        for (;;) {
            if (holds(claim(mine))) return 0;
            if (const std::uint32_t word = mark_contended()) return word;
        }
    }

    /// Does one step of an acquire, and sleeps for at most slice_ns if the mutex is held. Returns
    /// `acquired`, `would_deadlock`, `timed_out` if the whole slice has passed, or else `busy`.
    /// `slept` belongs to this acquire, and is false at first. A caller that gives up must follow
    /// the rule of step(). Requires that nobody calls owner_died().
    LockResult lock_slice(Owner self, std::int64_t slice_ns, bool& slept) {
        const std::uint32_t word = step(self, slept);
        if (word == 0) return LockResult::acquired;
        if (word >> owner_shift == self) return LockResult::would_deadlock;
        const Parked parked = Parks::park(word_, word, slice_ns);
        slept |= parked == Parked::notified;
        return parked == Parked::timed_out ? LockResult::timed_out : LockResult::busy;
    }

    /// Transfers the mutex from `dead`, an owner that is dead, to `self`. What the mutex guards is
    /// in the state in which the dead thread left it. Returns false, and changes nothing, if `dead`
    /// does not hold the mutex.
    bool take_over(Owner dead, Owner self) {
        std::uint32_t word = word_.load();
        while (word >> owner_shift == dead && word != 0) {
            if (word_.compare_exchange_weak(word, held(self) | contended_bit)) return true;
        }
        return false;
    }

    /// Notes that the thread `dead` has died. If it held the mutex, the next acquirer gets the mutex
    /// with `owner_died`. Wakes a waiter in any case, because the thread may have died with a
    /// wake-up that another waiter needs. Any thread may call it, and more than once.
    [[gnu::noinline]] void owner_died(Owner dead) {
        std::uint32_t word = word_.load();
        while (word >> owner_shift == dead) {
            if (word_.compare_exchange_weak(word, (word & contended_bit) | died_bit)) break;
        }
        wake_next();
    }

    /// Whether the mutex is held, and was acquired with `owner_died`, and mark_consistent() has not
    /// been called. Requires that the caller holds the mutex.
    [[nodiscard]] bool inconsistent() const {
        return (word_.load(std::memory_order_relaxed) & died_bit) != 0;
    }

    /// Declares that what the mutex guards is consistent again. Returns not_owner, and changes
    /// nothing, if the caller does not hold the mutex.
    UnlockResult mark_consistent(Owner self) {
        std::uint32_t word = word_.load();
        while (word >> owner_shift == self) {
            if (word_.compare_exchange_weak(word, word & ~died_bit)) return UnlockResult::released;
        }
        return UnlockResult::not_owner;
    }

    /// Releases the mutex. If it was acquired with `owner_died`, and mark_consistent() has not been
    /// called, then no thread can acquire it any more.
    UnlockResult unlock(Owner self) {
        std::uint32_t word = held(self);
        if (word_.compare_exchange_strong(word, 0)) return UnlockResult::released;
        return unlock_slow(self, word);
    }

    /// Registers an asynchronous waiter. Its wake-up is a task of its thread's event loop, and that
    /// thread may be asleep in another lock. So while one is registered, unlock() wakes all
    /// waiters, and no other waiter depends on it. It stays registered from before its first step
    /// until its last promise has settled, even if it gave up, because a promise cannot be removed
    /// from the queue of the word.
    void enter_async() { async_waiters_.fetch_add(1); }
    /// Ends what enter_async() began.
    void leave_async() { async_waiters_.fetch_sub(1); }

    /// Whether the mutex is not free. It is not free if its owner has died.
    [[nodiscard]] bool locked() const { return word_.load() != 0; }

    /// Returns the owner, or 0.
    [[nodiscard]] Owner owner() const { return word_.load() >> owner_shift; }

  private:
    static constexpr std::uint32_t held(Owner self) { return self << owner_shift; }

    bool take(std::uint32_t mine) {
        std::uint32_t free = 0;
        return word_.compare_exchange_strong(free, mine);
    }

    /// Whether the word is that of a mutex whose owner has died and which has no new owner.
    static constexpr bool left_by_dead(std::uint32_t word) {
        return (word | contended_bit) == (died_bit | contended_bit);
    }

    /// Tries to acquire the mutex, whether it is free or its owner has died. Returns `acquired`,
    /// `owner_died`, `not_recoverable` or `busy`.
    [[gnu::noinline]] LockResult claim(std::uint32_t mine) {
        std::uint32_t word = 0;
        if (word_.compare_exchange_strong(word, mine)) return LockResult::acquired;
        while (left_by_dead(word)) {
            if (word_.compare_exchange_weak(word, word | mine)) return LockResult::owner_died;
        }
        return word == not_recoverable_word ? LockResult::not_recoverable : LockResult::busy;
    }

    /// Marks the mutex as contended and returns its word, or returns 0 if it can be acquired.
    std::uint32_t mark_contended() {
        std::uint32_t word = word_.load();
        while (word >> owner_shift != 0 && (word & contended_bit) == 0) {
            if (word_.compare_exchange_weak(word, word | contended_bit)) word |= contended_bit;
        }
        return word >> owner_shift == 0 ? 0 : word;
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
            if (word == 0) return inconsistent() ? LockResult::owner_died : LockResult::acquired;
            if (word == not_recoverable_word) return LockResult::not_recoverable;
            std::int64_t rest_ns = Parks::sleep_max_ns;
            if (deadline_ns != forever_ns) {
                const std::int64_t left_ns = deadline_ns - now_ns();
                if (left_ns <= 0) return LockResult::timed_out;
                if (rest_ns == forever_ns || left_ns < rest_ns) rest_ns = left_ns;
            }
            slept |= Parks::park(word_, word, rest_ns) != Parked::changed;
        }
    }

    /// Releases a mutex that is contended or inconsistent. `word` is its word as the caller saw it.
    [[gnu::noinline]] UnlockResult unlock_slow(Owner self, std::uint32_t word) {
        while (word >> owner_shift == self) {
            const bool broken = (word & died_bit) != 0;
            if (!word_.compare_exchange_weak(word, broken ? not_recoverable_word : 0)) continue;
            if (broken) {
                Parks::unpark_all(word_);
            } else {
                wake_next();
            }
            return UnlockResult::released;
        }
        return UnlockResult::not_owner;
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

/// RAII guard: holds a mutex until it is destroyed. The caller must check `acquired` first. If the
/// owner before has died, the caller repairs what the mutex guards; the guard declares it consistent
/// at once, because a death of the caller would be noted on the mutex again.
template <class Parks = PlatformParker>
class Held {
  public:
    Held(BasicMutex<Parks>& mutex, Owner self, bool may_sleep)
        : mutex_(mutex),
          self_(self),
          result_(may_sleep ? mutex.lock(self) : mutex.lock_spinning(self)),
          acquired(holds(result_)) {
        if (owner_died()) mutex_.mark_consistent(self_);
    }
    ~Held() {
        if (acquired) mutex_.unlock(self_);
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    /// Whether the owner before has died.
    [[nodiscard]] bool owner_died() const { return result_ == LockResult::owner_died; }

  private:
    BasicMutex<Parks>& mutex_;
    const Owner self_;
    const LockResult result_;

  public:
    const bool acquired;
};

}  // namespace tabacus::sync
