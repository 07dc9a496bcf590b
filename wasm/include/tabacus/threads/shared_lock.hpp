#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tabacus/sync/arena.hpp"
#include "tabacus/sync/shared_lock_table.hpp"
#include "tabacus/threads/shared_segment.hpp"

namespace tabacus {

/// A lock of `shared.locks` for C++ threads, which block. It has a name and is acquired exclusively
/// or shared. Requests are served in their order, together with all requests in JavaScript.
///
/// It meets the requirements Lockable and SharedLockable of the C++ standard, for std::scoped_lock
/// and std::shared_lock. An object belongs to one thread, and holds the lock once at a time. If the
/// lock is stolen, `held()` returns false, and unlocking it is not an error.
class SharedLock {
  public:
    /// Blocks until the page has made the segment for locks. Requires that the page's main thread
    /// runs. `name` has any length.
    ///
    /// @throws std::system_error as segment_of() does
    SharedLock(sync::Arena& arena, std::u16string_view name)
        : SharedLock(segment_of<sync::SharedLockTable>(arena, arena.locks_slot), arena.take_id(),
                     name) {}

    /// @param self an id that no other user of that table has
    SharedLock(sync::SharedLockTable& table, sync::Owner self, std::u16string_view name)
        : table_(table), self_(self), name_(name) {}

    SharedLock(const SharedLock&) = delete;
    SharedLock& operator=(const SharedLock&) = delete;
    SharedLock(SharedLock&&) = delete;
    SharedLock& operator=(SharedLock&&) = delete;
    ~SharedLock() {
        if (request_ != 0) unlock();
    }

    // These four functions throw std::system_error not_enough_memory if there is no space for a
    // request. Where exceptions are off, they abort the program instead.

    /// Blocks until this object holds the lock exclusively.
    void lock() { wait(sync::LockMode::exclusive); }
    /// Blocks until this object holds the lock, shared with others.
    void lock_shared() { wait(sync::LockMode::shared); }
    /// Acquires the lock and returns true if it is available; else returns false at once.
    [[nodiscard]] bool try_lock() { return attempt(sync::LockMode::exclusive); }
    [[nodiscard]] bool try_lock_shared() { return attempt(sync::LockMode::shared); }

    /// Releases the lock. Requires that this object has acquired it; it may have been stolen since.
    void unlock() {
        table_.enter(self_, true);
        table_.release(request_);
        table_.leave(self_);
        request_ = 0;
    }
    void unlock_shared() { unlock(); }

    /// Whether this object holds the lock. Returns false if the lock was stolen.
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
        request_ =
            name == 0 ? sync::SharedLockTable::no_memory : table_.request(self_, name, mode, how);
        table_.leave(self_);
        if (request_ != sync::SharedLockTable::no_memory) return;
        request_ = 0;
        throw_out_of_memory("SharedLock");
    }

    sync::SharedLockTable& table_;
    sync::Owner self_;
    std::u16string name_;
    sync::Ref request_ = 0;
};

}  // namespace tabacus
