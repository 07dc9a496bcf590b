#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <system_error>

#include "tabacus/sync/barrier.hpp"
#include "tabacus/sync/counting_semaphore.hpp"
#include "tabacus/sync/rw_lock.hpp"
#include "tabacus/sync/thread_id.hpp"
#include "tabacus/threads/deadline.hpp"

// The reader-writer lock, the semaphore and the barrier of shared memory in the shapes of the C++
// standard library, for C++ threads, which block. Each class refers to an object that other threads
// use as well, and any number of threads may share one instance. shared_condition.hpp has the
// mutex, the condition variable and the function that runs once.
//
// `self` returns the caller's owner id: this_thread_id(), or an id of the arena if Workers attach
// to the memory. The end of each thread must be reported, after the last thing that it does with
// these objects: `ArenaThread` reports it to all objects of an arena, and
// `object.owner_died(dead, self)` to one object.

namespace tabacus {

using OwnerOf = sync::Owner (*)();

[[noreturn]] inline void refuse(std::errc code) {
#ifdef __cpp_exceptions
    throw std::system_error(std::make_error_code(code));
#else
    static_cast<void>(code);
    std::abort();
#endif
}

/// Returns whether something was acquired.
/// @throws std::system_error resource_deadlock_would_occur; state_not_recoverable;
///   not_enough_memory if there are as many requests and holds as there are records. Aborts where
///   exceptions are off
inline bool acquired_or_refuse(sync::Acquired result) {
    switch (result) {
        case sync::Acquired::acquired:
        case sync::Acquired::owner_died:
            return true;
        case sync::Acquired::busy:
        case sync::Acquired::timed_out:
            return false;
        case sync::Acquired::would_deadlock:
            refuse(std::errc::resource_deadlock_would_occur);
        case sync::Acquired::not_recoverable:
            refuse(std::errc::state_not_recoverable);
        case sync::Acquired::full:
            refuse(std::errc::not_enough_memory);
    }
    return false;
}

/// A reader-writer lock that meets the requirements SharedTimedLockable of the C++ standard, for
/// std::shared_lock, std::unique_lock and std::scoped_lock, as std::shared_timed_mutex does. It is
/// phase-fair and robust (rw_lock.hpp): a caller that must know whether an exclusive holder died
/// calls `rw_lock().lock(…)`, whose result may be `owner_died`.
class SharedRwMutex {
  public:
    explicit SharedRwMutex(sync::RwLock& lock, OwnerOf self = sync::this_thread_id)
        : lock_(lock), self_(self) {}

    void lock() { acquired_or_refuse(lock_.lock(self_(), sync::RwMode::exclusive)); }
    bool try_lock() { return acquired_or_refuse(lock_.try_lock(self_(), sync::RwMode::exclusive)); }
    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
        return lock_for(sync::RwMode::exclusive, timeout);
    }
    template <class Clock, class Duration>
    bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
        return try_lock_for(time_until(deadline));
    }
    void unlock() { lock_.unlock(self_(), sync::RwMode::exclusive); }

    void lock_shared() { acquired_or_refuse(lock_.lock(self_(), sync::RwMode::shared)); }
    bool try_lock_shared() {
        return acquired_or_refuse(lock_.try_lock(self_(), sync::RwMode::shared));
    }
    template <class Rep, class Period>
    bool try_lock_shared_for(std::chrono::duration<Rep, Period> timeout) {
        return lock_for(sync::RwMode::shared, timeout);
    }
    template <class Clock, class Duration>
    bool try_lock_shared_until(std::chrono::time_point<Clock, Duration> deadline) {
        return try_lock_shared_for(time_until(deadline));
    }
    void unlock_shared() { lock_.unlock(self_(), sync::RwMode::shared); }

    [[nodiscard]] sync::RwLock& rw_lock() { return lock_; }

  private:
    template <class Rep, class Period>
    bool lock_for(sync::RwMode mode, std::chrono::duration<Rep, Period> timeout) {
        return acquired_or_refuse(
            lock_.lock_until(self_(), mode, deadline_after(timeout), steady_now_ns));
    }

    sync::RwLock& lock_;
    OwnerOf self_;
};

/// A semaphore in the shape of std::counting_semaphore.
class SharedSemaphore {
  public:
    /// The semaphore has `permits` permits, unless another user has begun with another number.
    SharedSemaphore(sync::Semaphore& semaphore, std::uint32_t permits,
                    OwnerOf self = sync::this_thread_id)
        : semaphore_(semaphore), self_(self) {
        semaphore.begin(permits);
    }

    static constexpr std::ptrdiff_t max() noexcept { return sync::permits_max; }
    void acquire() { acquired_or_refuse(semaphore_.acquire(self_())); }
    bool try_acquire() { return acquired_or_refuse(semaphore_.try_acquire(self_())); }
    template <class Rep, class Period>
    bool try_acquire_for(std::chrono::duration<Rep, Period> timeout) {
        return acquired_or_refuse(
            semaphore_.acquire_until(self_(), deadline_after(timeout), steady_now_ns));
    }
    template <class Clock, class Duration>
    bool try_acquire_until(std::chrono::time_point<Clock, Duration> deadline) {
        return try_acquire_for(time_until(deadline));
    }
    /// @throws std::system_error value_too_large if there would be more than max() permits
    void release(std::uint32_t n = 1) {
        if (semaphore_.release(self_(), n) != sync::ReleaseResult::released)
            refuse(std::errc::value_too_large);
    }

  private:
    sync::Semaphore& semaphore_;
    OwnerOf self_;
};

/// A barrier in the shape of std::barrier, without a completion function. A thread that ends
/// without arrive_and_drop() and is reported is counted out.
class SharedBarrier {
  public:
    /// The barrier has `parties` parties, unless another user has begun with another number.
    SharedBarrier(sync::Barrier& barrier, std::uint32_t parties,
                  OwnerOf self = sync::this_thread_id)
        : barrier_(barrier), self_(self) {
        barrier.begin(parties);
    }

    void arrive_and_wait() { acquired_or_refuse(barrier_.arrive_and_wait(self_())); }
    /// Takes the arrival back, and returns false, if the phase has not ended after `timeout`.
    template <class Rep, class Period>
    bool arrive_and_wait_for(std::chrono::duration<Rep, Period> timeout) {
        return acquired_or_refuse(
            barrier_.arrive_and_wait_until(self_(), deadline_after(timeout), steady_now_ns));
    }
    void arrive_and_drop() {
        if (!barrier_.arrive_and_drop(self_())) refuse(std::errc::not_enough_memory);
    }

  private:
    sync::Barrier& barrier_;
    OwnerOf self_;
};

}  // namespace tabacus
