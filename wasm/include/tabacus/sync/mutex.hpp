#pragma once

#include <atomic>
#include <cstdint>

#include "tabacus/sync/parker.hpp"

// A mutex that knows its owner, between threads that may block and threads that may not.
//
// Promises: mutual exclusion; an unlock that nobody waits for makes no notify; an unlock by anybody
// but the owner changes nothing; a thread that gives up waiting takes nobody's wake-up along, and
// one that is terminated while waiting delays another by one sleep of sleep_max_ns at most.
// Refuses: fairness (a running thread may overtake a sleeping one), recursion (reported, not a
// hang), and noticing that an owner was terminated.
//
// The whole state is one word:
//
//   owner   contended   meaning                        who may leave the state, and how
//   0       0           free                           anybody: lock
//   self    0           held, nobody sleeps            owner: unlock, silently
//                                                      a waiter: sets `contended`, then sleeps
//   self    1           held, and somebody may sleep   owner: unlock, then wakes
//   0       1           cannot be: unlock stores 0
//
// `contended` may be set while nobody sleeps (one needless wake-up); it is never clear while
// somebody sleeps on a held mutex, unless a wake-up is on its way to a thread that will set it
// again or pass it on. That is why a thread that has slept takes the mutex as contended: others may
// sleep still. Nor does a sleep last for ever: a wake-up may have gone to a thread that is dead.

namespace tabacus::sync {

/// The holder of a mutex: a number that no other holder has at the same time. 0 is nobody.
using Owner = std::uint32_t;

inline constexpr Owner owner_max = UINT32_MAX >> 1;

enum class LockResult : std::uint32_t {
    acquired = 0,
    would_deadlock = 1,  // the caller holds it already
    timed_out = 2,
    busy = 3,  // held by another, and the caller will not sleep
};

enum class UnlockResult : std::uint32_t { released = 0, not_owner = 1 };

/// `Parks` is the platform, a test's count of it, or the laboratory's model.
template <class Parks = PlatformParker>
class BasicMutex {
  public:
    static constexpr std::uint32_t contended_bit = 1;

    /// Sleeps until the mutex is the caller's.
    LockResult lock(Owner self) {
        if (try_lock(self) == LockResult::acquired) return LockResult::acquired;
        return lock_slow(self, forever_ns, [] { return std::int64_t{0}; });
    }

    /// As `lock`, for at most timeout_ns by `now_ns`, a clock that never goes back.
    template <class NowNs>
    LockResult lock_for(Owner self, std::int64_t timeout_ns, NowNs now_ns) {
        if (try_lock(self) == LockResult::acquired) return LockResult::acquired;
        return lock_slow(self, now_ns() + timeout_ns, now_ns);
    }

    /// `acquired` or `busy`, at once.
    LockResult try_lock(Owner self) {
        return take(held(self)) ? LockResult::acquired : LockResult::busy;
    }

    /// For a thread that may not sleep, around a section that is known to be short: tries for a
    /// bounded time, then gives up with `busy`.
    [[gnu::noinline]] LockResult lock_spinning(Owner self) {
        for (std::uint32_t round = 0; round < Parks::spin_rounds_max; ++round) {
            if (word_.load(std::memory_order_relaxed) == 0 && take(held(self)))
                return LockResult::acquired;
        }
        return LockResult::busy;
    }

    /// One step of an acquire whose sleeping is done elsewhere (Atomics.wait and waitAsync): 0 when
    /// acquired, else the word to sleep on. `slept` says that an earlier step of this acquire has.
    ///
    /// A caller that gives up must do so after a step and before the next sleep, never straight
    /// after a sleep. It may have used up a wake-up that others behind it needed; but a step has
    /// either taken the mutex or marked it, and the unlock of a marked mutex wakes the next.
    std::uint32_t step(Owner self, bool slept) {
        const std::uint32_t mine = slept ? held(self) | contended_bit : held(self);
        for (;;) {
            if (take(mine)) return 0;
            if (const std::uint32_t word = mark_contended()) return word;
        }
    }

    /// One sleep of an acquire, of at most slice_ns. Returns `timed_out` if the whole slice passed,
    /// else `busy`. `slept` belongs to this acquire, and is false at first. A caller that gives up
    /// must follow the rule of `step`.
    LockResult lock_slice(Owner self, std::int64_t slice_ns, bool& slept) {
        const std::uint32_t word = step(self, slept);
        if (word == 0) return LockResult::acquired;
        if (word >> 1 == self) return LockResult::would_deadlock;
        const Parked parked = Parks::park(word_, word, slice_ns);
        slept |= parked == Parked::notified;
        return parked == Parked::timed_out ? LockResult::timed_out : LockResult::busy;
    }

    /// The mutex of an owner that is dead becomes the caller's, and what it guards is as the dead
    /// left it. Returns false, and changes nothing, if that owner does not hold it.
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
        // Only take_over() ends the ownership of another, who then is no owner any more; and
        // `contended` stays set.
        if (word != (held(self) | contended_bit)) return UnlockResult::not_owner;
        if (!word_.compare_exchange_strong(word, 0)) return UnlockResult::not_owner;
        wake_next();
        return UnlockResult::released;
    }

    /// An asynchronous waiter is woken by a task of its thread's event loop, and that thread may be
    /// asleep in some other lock just then. So where one may be queued, unlock wakes everybody, and
    /// nobody's progress depends on it. Counted from before its first step until its last promise
    /// has settled, also when it was abandoned: a promise cannot be taken out of the queue.
    void enter_async() { async_waiters_.fetch_add(1); }
    void leave_async() { async_waiters_.fetch_sub(1); }

    [[nodiscard]] bool locked() const { return word_.load() != 0; }

    /// The holder, or 0.
    [[nodiscard]] Owner owner() const { return word_.load() >> 1; }

  private:
    static constexpr std::uint32_t held(Owner owner) { return owner << 1; }

    bool take(std::uint32_t mine) {
        std::uint32_t expected = 0;
        return word_.compare_exchange_strong(expected, mine);
    }

    /// The contended word, or 0 if the mutex was free and is untouched.
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

/// Holds a mutex for a scope; look at `acquired` first.
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
