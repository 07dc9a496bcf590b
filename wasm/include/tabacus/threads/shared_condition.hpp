#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <system_error>
#include <utility>

#include "tabacus/sync/call_once.hpp"
#include "tabacus/sync/condition.hpp"
#include "tabacus/threads/deadline.hpp"
#include "tabacus/threads/shared_locks.hpp"

// The mutex, the condition variable and the function that runs once of shared memory in the shapes
// of the C++ standard library, for C++ threads, which block. The rules of shared_locks.hpp for
// `self` and for threads that end apply here as well.

namespace tabacus {

/// A mutex that meets the requirement TimedLockable of the C++ standard, for std::scoped_lock and
/// std::unique_lock, as std::timed_mutex does. It is robust: a caller that must know whether the
/// previous owner died calls `mutex().lock(…)`, whose result may be `owner_died`. If that caller
/// unlocks the mutex without mark_consistent(), the mutex becomes not recoverable.
class SharedMutex {
  public:
    explicit SharedMutex(sync::Mutex& mutex, OwnerOf self = sync::this_thread_id)
        : mutex_(mutex), self_(self) {}

    /// @throws std::system_error resource_deadlock_would_occur if the caller holds the mutex;
    ///   state_not_recoverable. Aborts where exceptions are off
    void lock() { holds_or_refuse(mutex_.lock(self_())); }
    bool try_lock() { return holds_or_refuse(mutex_.try_lock(self_())); }
    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
        return holds_or_refuse(mutex_.lock_for(self_(), wait_ns(timeout), steady_now_ns));
    }
    template <class Clock, class Duration>
    bool try_lock_until(std::chrono::time_point<Clock, Duration> deadline) {
        return try_lock_for(time_until(deadline));
    }
    void unlock() { mutex_.unlock(self_()); }

    [[nodiscard]] sync::Mutex& mutex() { return mutex_; }

  private:
    static bool holds_or_refuse(sync::LockResult result) {
        if (result == sync::LockResult::would_deadlock)
            refuse(std::errc::resource_deadlock_would_occur);
        if (result == sync::LockResult::not_recoverable) refuse(std::errc::state_not_recoverable);
        return sync::holds(result);
    }

    sync::Mutex& mutex_;
    OwnerOf self_;
};

/// A condition variable in the shape of std::condition_variable_any, for locks of any kind that the
/// caller holds, such as std::unique_lock<SharedMutex>, SharedMutex and SharedRwMutex. A
/// notification that is sent after the wait has released the lock reaches the waiter. A wait may
/// end without a notification.
class SharedConditionVariable {
  public:
    explicit SharedConditionVariable(sync::Condition& condition) : condition_(condition) {}

    void notify_one() { condition_.notify_one(); }
    void notify_all() { condition_.notify_all(); }

    template <class Lock>
    void wait(Lock& lock) {
        wait_until_ns(lock, sync::forever_ns);
    }
    template <class Lock, class Check>
    void wait(Lock& lock, Check condition) {
        while (!condition()) wait(lock);
    }
    template <class Lock, class Rep, class Period>
    std::cv_status wait_for(Lock& lock, std::chrono::duration<Rep, Period> timeout) {
        return wait_until_ns(lock, deadline_after(timeout)) ? std::cv_status::no_timeout
                                                            : std::cv_status::timeout;
    }
    /// Returns what `condition()` is in the end.
    template <class Lock, class Rep, class Period, class Check>
    bool wait_for(Lock& lock, std::chrono::duration<Rep, Period> timeout, Check condition) {
        const std::int64_t deadline_ns = deadline_after(timeout);
        while (!condition()) {
            if (!wait_until_ns(lock, deadline_ns)) return condition();
        }
        return true;
    }
    template <class Lock, class Clock, class Duration>
    std::cv_status wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> deadline) {
        return wait_for(lock, time_until(deadline));
    }
    template <class Lock, class Clock, class Duration, class Check>
    bool wait_until(Lock& lock, std::chrono::time_point<Clock, Duration> deadline,
                    Check condition) {
        return wait_for(lock, time_until(deadline), std::move(condition));
    }

  private:
    template <class Lock>
    bool wait_until_ns(Lock& lock, std::int64_t deadline_ns) {
        const std::uint32_t seen = condition_.announce();
        lock.unlock();
        const bool notified = condition_.sleep(seen, deadline_ns, steady_now_ns);
        lock.lock();
        return notified;
    }

    sync::Condition& condition_;
};

/// A flag in the shape of std::once_flag, for call_once() below.
class SharedOnceFlag {
  public:
    explicit SharedOnceFlag(sync::OnceFlag& flag, OwnerOf self = sync::this_thread_id)
        : flag_(flag), self_(self) {}

  private:
    template <class Function, class... Arguments>
    friend void call_once(SharedOnceFlag& flag, Function&& function, Arguments&&... arguments);

    sync::OnceFlag& flag_;
    OwnerOf self_;
};

/// Runs a function once over all threads, as std::call_once does. When a call returns, the function
/// has run. If it throws, or if its thread dies, the next caller runs it.
/// @throws std::system_error resource_deadlock_would_occur if the function calls itself; what the
///   function throws
template <class Function, class... Arguments>
void call_once(SharedOnceFlag& flag, Function&& function, Arguments&&... arguments) {
    const auto run = [&] {
        std::invoke(std::forward<Function>(function), std::forward<Arguments>(arguments)...);
    };
    if (flag.flag_.call(flag.self_(), run) == sync::CallResult::would_deadlock)
        refuse(std::errc::resource_deadlock_would_occur);
}

}  // namespace tabacus
