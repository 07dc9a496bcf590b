#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "tabacus/sync/arena.hpp"
#include "tabacus/sync/thread_id.hpp"
#include "tabacus/threads/deadline.hpp"

namespace tabacus {

/// A lock over all tabs of the origin for C++ threads, which block. It is the lock `tab.lock(name)`
/// of JavaScript. The page's main thread answers requests, so it must run and must not wait for
/// these threads.
///
/// It meets the requirements Lockable and TimedLockable of the C++ standard, for std::scoped_lock,
/// std::lock and std::unique_lock. Any number of threads may share one object. It is not recursive.
///
/// The lock is released when a thread leaves the scope of its std::scoped_lock, and when the page
/// ends. A C++ thread does not exit in any other way. A holder can lose the lock if another tab
/// steals it or if the page is frozen; then `held()` returns false. If the holder writes to another
/// system, it must send `token()` along, which rises with every grant, so that the system can
/// refuse the writes of a previous holder.
class TabMutex {
  public:
    // Functions that throw abort the program instead where exceptions are off.

    /// @param name 1 to 128 UTF-16 units
    /// @throws std::system_error invalid_argument if the name is empty or too long;
    ///   not_enough_memory if the arena is full
    TabMutex(sync::Arena& arena, std::u16string_view name)
        : TabMutex(arena, opened(arena, name), true) {}

    /// Uses a request of the caller. Requires that the request outlives the mutex, and that nothing
    /// else uses it meanwhile.
    TabMutex(sync::Arena& arena, sync::TabRequest& request) : TabMutex(arena, request, false) {}

    TabMutex(const TabMutex&) = delete;
    TabMutex& operator=(const TabMutex&) = delete;
    TabMutex(TabMutex&&) = delete;
    TabMutex& operator=(TabMutex&&) = delete;
    ~TabMutex() {
        if (owned_) request_.close(bell_);
    }

    /// Blocks until the caller holds the lock.
    /// @throws std::system_error resource_deadlock_would_occur if the caller holds it already;
    ///   resource_unavailable_try_again if the page refuses, because its tab is closed or has no
    ///   locks
    void lock() {
        const auto self = sync::this_thread_id();
        if (threads_.lock(self) != sync::LockResult::acquired)
            fail(std::errc::resource_deadlock_would_occur);
        if (ask(sync::TabState::asked, sync::forever_ns)) return;
        threads_.unlock(self);
        fail(std::errc::resource_unavailable_try_again);
    }

    /// Asks the page, which answers at once. Returns false if the lock is held or the page refuses.
    bool try_lock() {
        const auto self = sync::this_thread_id();
        if (threads_.try_lock(self) != sync::LockResult::acquired) return false;
        return kept(self, ask(sync::TabState::trying, sync::forever_ns));
    }

    /// Blocks until the caller holds the lock, but not longer than `timeout`. Returns false after
    /// that time, or if the page refuses.
    template <class Rep, class Period>
    bool try_lock_for(std::chrono::duration<Rep, Period> timeout) {
        const std::int64_t deadline_ns = deadline_after(timeout);
        const auto self = sync::this_thread_id();
        const auto locked = threads_.lock_for(self, wait_ns(timeout), steady_now_ns);
        if (locked != sync::LockResult::acquired) return false;
        const std::int64_t rest_ns = deadline_ns - steady_now_ns();
        return kept(self, ask(sync::TabState::asked, std::max<std::int64_t>(0, rest_ns)));
    }

    template <class Duration>
    bool try_lock_until(std::chrono::time_point<std::chrono::steady_clock, Duration> deadline) {
        return try_lock_for(time_until(deadline));
    }

    /// Releases the lock, even if it was lost.
    /// @throws std::system_error operation_not_permitted if the caller has not acquired it
    void unlock() {
        const auto self = sync::this_thread_id();
        if (threads_.owner() != self) fail(std::errc::operation_not_permitted);
        request_.release(bell_);
        threads_.unlock(self);
    }

    /// Whether the caller still holds the lock; false once it is lost. Requires that the caller has
    /// acquired it.
    [[nodiscard]] bool held() const { return request_.state() == sync::TabState::granted; }

    /// Returns the fencing token of the caller's grant. Requires that the caller has acquired the
    /// lock.
    [[nodiscard]] std::int64_t token() const { return request_.token(); }

  private:
    TabMutex(sync::Arena& arena, sync::TabRequest& request, bool owned)
        : bell_(arena.tab_bell()), request_(request), owned_(owned) {}

    static sync::TabRequest& opened(sync::Arena& arena, std::u16string_view name) {
        if (name.empty() || name.size() > sync::TabRequest::name_units_max)
            fail(std::errc::invalid_argument);
        auto outcome = sync::Opened::found;
        auto* request = arena.open_tab_request(arena.take_id(), true, false, name, outcome);
        if (request == nullptr) fail(std::errc::not_enough_memory);
        return *request;
    }

    bool ask(sync::TabState how, std::int64_t timeout_ns) {
        request_.ask(bell_, how);
        const auto answer = request_.answer(bell_, timeout_ns, steady_now_ns);
        return answer == sync::TabState::granted || answer == sync::TabState::lost;
    }

    bool kept(sync::Owner self, bool granted) {
        if (!granted) threads_.unlock(self);
        return granted;
    }

    [[noreturn]] static void fail(std::errc what) {
#ifdef __cpp_exceptions
        throw std::system_error(std::make_error_code(what), "tabacus::TabMutex");
#else
        static_cast<void>(what);
        std::abort();
#endif
    }

    sync::Mutex threads_;
    sync::TabBell& bell_;
    sync::TabRequest& request_;
    const bool owned_;
};

}  // namespace tabacus
