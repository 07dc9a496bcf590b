#pragma once

#include <cstdint>

#include "tabacus/sync/mutex.hpp"

// A condition variable: threads that hold a mutex release it and sleep until another thread
// notifies them. Its functions are those of std::condition_variable_any, over the mutex of
// mutex.hpp.
//
// Promises: to release the mutex and to begin to wait is one step. A notification that is sent
// after the mutex was released reaches the waiter. notify_one() wakes the thread that has waited
// for longest, if any waits. If a thread dies, owner_died() wakes all waiters, because the
// thread may have died with a wake-up that another waiter needs, or before a notification that
// others wait for. Where nobody calls owner_died(), another waiter wakes up within sleep_max_ns
// after such a notification.
// Does not provide: freedom from spurious wake-ups. A caller must check its condition again, as with
// std::condition_variable.
//
// The state is one word, a number of notifications and a flag:
//
//   waiting   meaning                     transitions
//   0         no thread waits             waiter, which holds the mutex: sets `waiting`, releases
//                                         the mutex, and sleeps on the word that it has seen
//   1         a thread may wait           notify_one: counts, keeps `waiting`, wakes one
//                                         notify_all: counts, clears `waiting`, wakes all
//
// A waiter was notified if the word differs from the one that it has seen. The count has 31 bits. A
// waiter would miss its notification only if 2^31 others came between its look at the word and its
// sleep.

namespace tabacus::sync {

/// The result of a wait.
struct Waited {
    bool notified;    // false if the time is over
    LockResult lock;  // whether the caller holds the mutex again (holds())
};

template <class Parks = PlatformParker>
class BasicCondition {
  public:
    using MutexType = BasicMutex<Parks>;

    static constexpr std::uint32_t waiting_bit = 1;

    /// Releases the mutex, sleeps until a notification, and acquires the mutex again. Requires that
    /// the caller holds the mutex. If it is inconsistent, it becomes not recoverable, as by
    /// unlock().
    LockResult wait(MutexType& mutex, Owner self) {
        return wait_until(mutex, self, forever_ns, [] { return std::int64_t{0}; }).lock;
    }

    /// Waits until `condition()` is true while the caller holds the mutex.
    template <class Check>
    LockResult wait(MutexType& mutex, Owner self, Check condition) {
        LockResult lock = LockResult::acquired;
        while (holds(lock) && !condition()) lock = wait(mutex, self);
        return lock;
    }

    /// Waits as wait() does, for at most timeout_ns. `now_ns()` is a monotonic clock in nanoseconds.
    template <class NowNs>
    Waited wait_for(MutexType& mutex, Owner self, std::int64_t timeout_ns, NowNs now_ns) {
        return wait_until(mutex, self, now_ns() + timeout_ns, now_ns);
    }

    void notify_one() { notify(waiting_bit); }
    void notify_all() { notify(0); }

    /// Announces a waiter, which holds the mutex. Returns the word to sleep on: the waiter releases
    /// the mutex, sleeps until the word differs, and acquires the mutex.
    std::uint32_t announce() {
        std::uint32_t word = word_.load();
        while ((word & waiting_bit) == 0) {
            if (word_.compare_exchange_weak(word, word | waiting_bit)) word |= waiting_bit;
        }
        return word;
    }

    /// Sleeps until a notification that was sent after announce() returned `seen`. Returns false if
    /// the deadline has passed before.
    template <class NowNs>
    bool sleep(std::uint32_t seen, std::int64_t deadline_ns, NowNs now_ns) {
        while (word_.load() == seen) {
            std::int64_t rest_ns = Parks::sleep_max_ns;
            if (deadline_ns != forever_ns) {
                const std::int64_t left_ns = deadline_ns - now_ns();
                if (left_ns <= 0) return false;
                if (rest_ns == forever_ns || left_ns < rest_ns) rest_ns = left_ns;
            }
            Parks::park(word_, seen, rest_ns);
        }
        return true;
    }

    /// Registers an asynchronous waiter, before announce(). While one is registered, notify_one()
    /// wakes all waiters, for the reason that BasicMutex::enter_async() states.
    void enter_async() { async_waiters_.fetch_add(1); }
    /// Ends what enter_async() began, once the promise of the wait has settled.
    void leave_async() { async_waiters_.fetch_sub(1); }

    /// Notes that a thread has died: wakes all waiters. Any thread may call it, and more than once.
    void owner_died(Owner /*dead*/) { notify_all(); }

  private:
    /// `kept`: the flag that remains after the notification.
    [[gnu::noinline]] void notify(std::uint32_t kept) {
        std::uint32_t word = word_.load();
        do {
            if ((word & waiting_bit) == 0) return;
        } while (!word_.compare_exchange_weak(word, ((word & ~waiting_bit) + 2) | kept));
        if (kept == 0 || async_waiters_.load() != 0) {
            Parks::unpark_all(word_);
        } else {
            Parks::unpark_one(word_);
        }
    }

    template <class NowNs>
    Waited wait_until(MutexType& mutex, Owner self, std::int64_t deadline_ns, NowNs now_ns) {
        const std::uint32_t seen = announce();
        const bool broken = mutex.inconsistent();
        mutex.unlock(self);
        const bool notified = broken || sleep(seen, deadline_ns, now_ns);
        return {notified, mutex.lock(self)};
    }

    using Cell = Parks::template Atomic<std::uint32_t>;
    Cell word_{0};
    Cell async_waiters_{0};
};

using Condition = BasicCondition<>;

}  // namespace tabacus::sync
