#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tabacus/sync/arena.hpp"
#include "tabacus/sync/shared_lock_table.hpp"
#include "tabacus/threads/shared_segment.hpp"

namespace tabacus {

/// A lock of `shared.locks`, for C++ threads, which block: by name, exclusive or shared, first
/// come, first served with everybody who asks for it in JavaScript.
///
/// Lockable and SharedLockable as the C++ standard means them, for std::scoped_lock and
/// std::shared_lock. An object is one thread's, and holds the lock once at a time. A lock that is
/// stolen is gone: `held()` tells, and unlocking it is no error.
class SharedLock {
  public:
    /// Blocks until the page has made the room for locks: its main thread must run.
    ///
    /// @throws std::system_error as room_of() does
    SharedLock(sync::Arena& arena, std::u16string_view name)
        : SharedLock(room_of<sync::LockTable>(arena, arena.locks_door), arena.take_id(), name) {}

    /// @param self who no other user of that table is
    SharedLock(sync::LockTable& table, sync::Owner self, std::u16string_view name)
        : table_(table), self_(self), name_(name) {}

    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;
    SharedLock(SharedLock&&) = delete;
    SharedLock& operator=(SharedLock&&) = delete;
    ~SharedLock() {
        if (request_ != 0) unlock();
    }

    /// @throws std::system_error not_enough_memory if there is no room for a request. Without
    ///   exceptions it aborts, here and below
    void lock() { wait(sync::LockMode::exclusive); }
    void lock_shared() { wait(sync::LockMode::shared); }
    [[nodiscard]] bool try_lock() { return attempt(sync::LockMode::exclusive); }
    [[nodiscard]] bool try_lock_shared() { return attempt(sync::LockMode::shared); }

    void unlock() {
        table_.enter(self_, true);
        table_.release(request_);
        table_.leave(self_);
        request_ = 0;
    }
    void unlock_shared() { unlock(); }

    /// Whether this object holds it, and nobody has stolen it.
    [[nodiscard]] bool held() const {
        return request_ != 0 && table_.state_of(request_) == sync::LockState::held;
    }

  private:
    void wait(sync::LockMode mode) {
        ask(mode, sync::LockHow::wait);
        auto& state = table_.at<sync::LockRequest>(request_)->state;
        constexpr auto pending = static_cast<std::uint32_t>(sync::LockState::pending);
        while (state.load() == pending) {
            sync::PlatformParker::park(state, pending, sync::forever_ns);
        }
    }

    bool attempt(sync::LockMode mode) {
        ask(mode, sync::LockHow::if_available);
        return request_ != 0;
    }

    void ask(sync::LockMode mode, sync::LockHow how) {
        table_.enter(self_, true);
        const sync::Ref name = table_.make_text(name_);
        request_ = name == 0 ? sync::LockTable::no_room : table_.request(self_, name, mode, how);
        table_.leave(self_);
        if (request_ != sync::LockTable::no_room) return;
        request_ = 0;
        throw_no_room("SharedLock");
    }

    sync::LockTable& table_;
    sync::Owner self_;
    std::u16string name_;
    sync::Ref request_ = 0;
};

}  // namespace tabacus
