// WebLock: acquires a Web Lock in two steps, so that no request is stuck behind one that gave up.
// A *reader* is a shared request, a *writer* an exclusive one.
//
// When a waiting request is aborted, or its tab is closed, Chromium does not wake the requests that
// are queued behind it until the holder releases the lock (docs/decisions/0008), although Web Locks
// §4.3 requires that. It matters where holders share: readers behind a writer that gave up wait
// until the present readers release the lock. So there is a second Web Lock, the *entry lock*. A
// request acquires the entry lock in its own mode first, then waits for the lock itself, and then
// releases the entry lock. Therefore the queue of the lock itself has either only readers or a
// single writer, and no request is queued behind a writer there. A request that is queued at the
// entry lock has to wait for the holder of the entry lock in any case:
//
//   entry lock held by  lock's queue         queued at the entry lock
//   readers             those readers        a writer, then any: they wait for a present reader
//   one writer          that writer alone    any: they wait for that writer's turn
//   a tab's position    as before            any: they wait for that tab's turns before it
//   nobody              nobody
//
// A *position* is a request for the entry lock that a tab makes ahead, while it still has or awaits
// the lock, for a later request of its own (queue/fair_order.hpp).
//
// Tokens. A writer that holds the entry lock is the next to hold the lock, so it reserves its
// tokens while it waits, and no transaction is needed between the release in one tab and the grant
// in another. These tokens must be the newest ones when the writer's turn comes. A tab that raises
// the epoch out of turn (a stealer or an evictor) therefore steals the entry lock first. The
// browser reports to a tab in order what happened to its locks. So a writer that is granted the
// lock after that already knows that it lost the entry lock, and begins anew. There is one more
// case: a tab that hung may have been granted the lock, and lost it to a stealer, long ago. A tab
// that finds its timers late therefore reserves new tokens under the lock.
#pragma once

#include <memory>

#include "lock_context.hpp"
#include "native_lock.hpp"

namespace tabacus {

class WebLock final : public NativeLock {
  public:
    /// `scope` runs its coroutines.
    WebLock(LockContext& context, Scope& scope, std::string key)
        : context_(context), scope_(scope), key_(std::move(key)) {}

    Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request) override;
    std::shared_ptr<EntryLockRequest> request_entry(LockMode mode,
                                                    Function<void()> on_next) override;
    void cancel() override;
    void release(const std::shared_ptr<NativeHold>& hold) override;
    void on_possible_release() override {}
    [[nodiscard]] bool first_in_line() const override { return entry_lock_ != nullptr; }
    Task<bool> query_other_waiters(bool is_next) override;
    Task<bool> is_known_to_wait() override;
    void void_reservation() override {
        if (reservation_) reservation_->trusted = false;
    }

  private:
    /// The tokens that this tab reserves while it is the next in line.
    struct TokenReservation {
        TokenReservation(Wakefulness& wakefulness, double most_ms) : awake(wakefulness, most_ms) {}
        std::optional<LockTokens> tokens;
        std::shared_ptr<bool> granted = std::make_shared<bool>(false);  // the lock was granted
        Completer<Unit> settled;    // the transaction has ended; without tokens, it failed
        Wakefulness::Period awake;  // since the reservation began
        bool trusted = true;        // false: other tokens may be newer, so these are not used
    };

    Task<std::unique_ptr<HeldLock>> request_lock(std::string name, NativeRequest request);
    Task<std::unique_ptr<HeldLock>> acquire_entry_lock(NativeRequest request);
    Task<void> await_entry_lock(std::shared_ptr<EntryLockRequest> entry, LockMode mode,
                                Function<void()> on_next);
    Task<std::shared_ptr<NativeHold>> acquire_through_entry_lock(NativeRequest request);
    Task<std::shared_ptr<NativeHold>> acquire_under_entry_lock(NativeRequest request);
    Task<std::shared_ptr<NativeHold>> steal(NativeRequest request);
    Task<void> assign_tokens(std::shared_ptr<NativeHold> hold, NativeRequest request);
    Task<void> reserve(std::shared_ptr<TokenReservation> reservation, LockClaim claim);

    LockContext& context_;
    Scope& scope_;
    std::string key_;
    AbortSignal waiting_;      // of the request that was made last
    std::uint64_t asked_ = 0;  // the number of requests that were made
    bool answered_ = true;     // the browser has answered the request that was made last
    bool cancelled_ = false;   // cancel() was called after acquire()
    bool entry_lock_lost_ = false;
    std::unique_ptr<HeldLock> entry_lock_;
    std::shared_ptr<TokenReservation> reservation_;
    std::weak_ptr<NativeHold> entering_;  // a hold that has no tokens yet
};

/// The native lock where nothing excludes other tabs: the page acquires it at once.
class PageLock final : public NativeLock {
  public:
    PageLock(LockContext& context, std::string key) : context_(context), key_(std::move(key)) {}
    Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request) override {
        auto hold = std::make_shared<NativeHold>();
        hold->mode = request.mode;
        if (request.mode == LockMode::exclusive) {
            hold->tokens = co_await context_.epochs.raise(key_, request.claim);
        }
        co_return hold;
    }
    void cancel() override {}
    void release(const std::shared_ptr<NativeHold>& /*hold*/) override {}
    void on_possible_release() override {}
    [[nodiscard]] bool first_in_line() const override { return true; }
    Task<bool> query_other_waiters(bool /*is_next*/) override { co_return false; }
    Task<bool> is_known_to_wait() override { co_return false; }

  private:
    LockContext& context_;
    std::string key_;
};

}  // namespace tabacus
