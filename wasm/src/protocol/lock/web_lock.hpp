// WebLock: Web Locks, in two steps, so that no request is stranded behind one that gives up.
//
// Chromium does not wake the requests queued behind a waiting one that is aborted, or whose tab is
// closed, until the holder releases (docs/decisions/0008), although Web Locks §4.3 requires it. The
// effect shows where holders share: readers behind a writer that gave up wait for a reader that
// holds. So there is a second Web Lock, the *entry lock*. A request acquires the entry lock in its
// own mode first, then waits for the lock itself, and then releases the entry lock. Therefore the
// lock's own queue has either readers only or one writer alone, and no request is behind a writer
// there. A request that is queued at the entry lock waits for the entry lock's holder in any case:
//
//   entry lock held by  lock's queue         queued at the entry lock
//   readers             those readers        a writer, then any: they wait for a reader that holds
//   one writer          that writer, alone   any: first its turn, then theirs
//   a tab's position    as before            any: first the turns of that tab before the position
//   nobody              nobody
//
// Tokens. A writer that holds the entry lock is the next to hold the lock, so it reserves its
// tokens while it waits: between the release of one tab and the grant of another there is no
// transaction. These tokens are the newest when the writer's turn comes: a tab that raises the
// epoch out of turn (a stealer, an evictor) steals the entry lock first, and the browser reports to
// a tab what happened to its locks in order. So a writer that is granted the lock after that
// already knows that it lost the entry lock, and begins anew. A tab that hung may have been granted
// the lock, and lost it to a stealer, long ago: a tab that finds its timers late reserves new
// tokens under the lock.
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
    /// The tokens of the next holder.
    struct TokenReservation {
        TokenReservation(Wakefulness& wakefulness, double most_ms) : awake(wakefulness, most_ms) {}
        std::optional<LockTokens> tokens;
        std::shared_ptr<bool> granted = std::make_shared<bool>(false);
        Completer<Unit> settled;
        Wakefulness::Period awake;
        bool trusted = true;
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
    AbortSignal waiting_;
    std::uint64_t asked_ = 0;
    bool answered_ = true;  // the request that was made last
    bool cancelled_ = false;
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
