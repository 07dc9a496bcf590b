// NativeLock: what excludes other tabs. It is a Web Lock (web_lock.hpp), a lease (lease.hpp), or,
// where there is neither, nothing but the page itself.
#pragma once

#include <cstdint>
#include <memory>

#include "lock_record.hpp"
#include "native_hold.hpp"

namespace tabacus {

/// A request for the entry lock (web_lock.hpp) that is made before the acquire() that uses it. It
/// keeps a position in line.
struct EntryLockRequest {
    AbortSignal signal;              // ends the wait
    std::unique_ptr<HeldLock> lock;  // the entry lock, once this position is next in line
    bool over = false;               // whether it was given up, or the entry lock was stolen
    Completer<Unit> settled;

    [[nodiscard]] bool is_next() const { return lock && !over; }
    void give_up() {
        over = true;
        signal.abort();
        lock.reset();
        if (!settled.completed()) settled.complete({});
    }
};

/// What a tab asks of a native lock, for one or more of its acquire requests.
struct NativeRequest {
    LockMode mode = LockMode::exclusive;
    bool if_available = false;
    bool steal = false;
    LockClaim claim;
    std::shared_ptr<EntryLockRequest> entry = nullptr;
    /// Called when this tab is the next to hold the lock, before it waits for the holder.
    Function<void()> on_next = nullptr;
};

class NativeLock {
  public:
    NativeLock() = default;
    NativeLock(const NativeLock&) = delete;
    NativeLock& operator=(const NativeLock&) = delete;
    NativeLock(NativeLock&&) = delete;
    NativeLock& operator=(NativeLock&&) = delete;
    virtual ~NativeLock() = default;
    /// Waits for this tab's turn. Returns nothing if the lock is not available, or if the request
    /// was cancelled or lost its position to a stealer. At most one acquire() at a time, beside any
    /// number that steal.
    virtual Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request) = 0;
    /// Takes a position in line, even while this tab has the lock or waits for it. The position is
    /// behind all requests that wait already, and before all that come later. `on_next` is called
    /// when the position is the next in line. Returns null where a tab cannot have two positions.
    virtual std::shared_ptr<EntryLockRequest> request_entry(LockMode /*mode*/,
                                                            Function<void()> /*on_next*/) {
        return nullptr;
    }
    /// Ends an acquire() that waits, and leaves nothing behind.
    virtual void cancel() = 0;
    virtual void release(const std::shared_ptr<NativeHold>& hold) = 0;
    /// Notes that another tab released the lock, or gave up waiting.
    virtual void on_possible_release() = 0;
    /// Notes that another tab reported its requests. Those that hold the lock come first.
    virtual void on_report(const LockMessage& /*message*/) {}
    /// Whether an acquire() under way is the next in line.
    [[nodiscard]] virtual bool first_in_line() const = 0;
    /// Finds out whether another tab may be waiting. A tab that announced a request may no longer
    /// wait, because it got a shared grant, gave up or crashed. `is_next`: whether this tab has a
    /// position ahead that is next in line.
    virtual Task<bool> query_other_waiters(bool is_next) = 0;
    /// Whether an acquire() under way is known to wait for other tabs. It is not known while the
    /// browser or the database has not answered yet, nor after the grant of the lock itself.
    virtual Task<bool> is_known_to_wait() = 0;
    /// Voids the tokens that are reserved: this tab is about to begin an epoch out of turn.
    virtual void void_reservation() {}
};

}  // namespace tabacus
