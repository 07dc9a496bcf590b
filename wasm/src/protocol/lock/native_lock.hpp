// NativeLock: what excludes other tabs. It is a Web Lock (web_lock.hpp), a lease (lease.hpp), or,
// where there is neither, nothing but the page itself.
#pragma once

#include <cstdint>
#include <memory>

#include "lock_record.hpp"
#include "native_hold.hpp"

namespace tabacus {

/// A request for the entry lock that is made ahead, for a later acquire(): a position in line.
struct EntryLockRequest {
    AbortSignal signal;              // ends the wait
    std::unique_ptr<HeldLock> lock;  // the entry lock: this position is next in line
    bool over = false;               // given up, or the entry lock was stolen
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
    /// Takes a position in line although this tab has the lock, or waits for it: behind all that
    /// wait already, before all that come later. `on_next` is called when nobody is before it any
    /// more. Returns nothing where a tab cannot have two positions.
    virtual std::shared_ptr<EntryLockRequest> request_entry(LockMode /*mode*/,
                                                            Function<void()> /*on_next*/) {
        return nullptr;
    }
    /// Ends an acquire() that waits, and leaves nothing behind.
    virtual void cancel() = 0;
    virtual void release(const std::shared_ptr<NativeHold>& hold) = 0;
    /// Another tab released the lock, or gave up waiting.
    virtual void on_possible_release() = 0;
    /// Another tab reported its requests: those that it holds come first.
    virtual void on_report(const LockMessage& /*message*/) {}
    /// Whether an acquire() under way is the next in line.
    [[nodiscard]] virtual bool first_in_line() const = 0;
    /// Returns whether another tab may wait. A tab that announced its request may be gone: it got
    /// its shared grant, gave up or crashed. `is_next`: this tab itself has a position ahead that
    /// is next in line.
    virtual Task<bool> query_other_waiters(bool is_next) = 0;
    /// Whether an acquire() under way is known to wait for other tabs. Returns false also while the
    /// browser or the database has not answered yet, and once the lock was granted and is being
    /// entered.
    virtual Task<bool> is_known_to_wait() = 0;
    /// Voids the tokens that are reserved: this tab is about to begin an epoch out of turn.
    virtual void void_reservation() {}
};

}  // namespace tabacus
