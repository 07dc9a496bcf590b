#include "web_lock.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// A tab that waits for longer reserves new tokens, which costs it a transaction.
constexpr double awake_for_ms = 2'000;

std::shared_ptr<NativeHold> hold_of(std::unique_ptr<HeldLock> lock, LockMode mode) {
    auto hold = std::make_shared<NativeHold>();
    hold->mode = mode;
    hold->lock = std::move(lock);
    hold->lock->on_lost([weak = std::weak_ptr(hold)] {
        const auto stolen = weak.lock();
        if (!stolen) return;
        if (stolen->on_lost) {
            stolen->on_lost("stolen");
        } else {
            stolen->lost = true;
        }
    });
    return hold;
}

}  // namespace

Task<std::shared_ptr<NativeHold>> WebLock::acquire(NativeRequest request) {
    if (request.steal) co_return co_await steal(std::move(request));
    cancelled_ = false;
    co_return co_await acquire_through_entry_lock(std::move(request));
}

/// Acquires the lock under the entry lock. Returns nothing if the lock is not available, or if the
/// request was cancelled or lost the entry lock to a stealer.
Task<std::shared_ptr<NativeHold>> WebLock::acquire_through_entry_lock(NativeRequest request) {
    entry_lock_lost_ = false;
    entry_lock_ = co_await acquire_entry_lock(request);
    if (!entry_lock_ || cancelled_) {
        entry_lock_.reset();
        co_return nullptr;
    }
    entry_lock_->on_lost([this] {
        entry_lock_lost_ = true;
        waiting_.abort();
    });
    if (request.on_next) request.on_next();
    auto taken = co_await attempt(acquire_under_entry_lock(std::move(request)));
    // However this ended, this acquire() does not keep the entry lock.
    entering_.reset();
    reservation_.reset();
    auto entry_lock = std::exchange(entry_lock_, nullptr);
    if (!taken) {
        entry_lock.reset();
        co_await fail(taken.error());
    }
    auto hold = std::move(taken.value());
    if (hold) hold->entry_lock = std::move(entry_lock);
    co_return hold;
}

Task<std::shared_ptr<NativeHold>> WebLock::acquire_under_entry_lock(NativeRequest request) {
    const bool exclusive = request.mode == LockMode::exclusive;
    const bool needs_tokens = exclusive && request.claim.tokens > 0;
    if (needs_tokens && !request.if_available && context_.epochs.fenced()) {
        reservation_ = std::make_shared<TokenReservation>(context_.wakefulness, awake_for_ms);
        scope_.spawn(reserve(reservation_, request.claim));
    }
    auto lock = co_await request_lock(context_.names.lock(key_), request);
    if (!lock || cancelled_ || (exclusive && entry_lock_lost_)) co_return nullptr;
    auto hold = hold_of(std::move(lock), request.mode);
    if (needs_tokens) co_await assign_tokens(hold, std::move(request));
    co_return hold;
}

std::shared_ptr<EntryLockRequest> WebLock::request_entry(LockMode mode, Function<void()> on_next) {
    auto entry = std::make_shared<EntryLockRequest>();
    scope_.spawn(await_entry_lock(entry, mode, std::move(on_next)));
    return entry;
}

Task<void> WebLock::await_entry_lock(std::shared_ptr<EntryLockRequest> entry, LockMode mode,
                                     Function<void()> on_next) {
    auto answer = co_await attempt(context_.world.locks().request(
        {.name = context_.names.entry_lock(key_), .mode = mode, .signal = entry->signal}));
    if (entry->over) co_return;
    if (!answer) co_return entry->give_up();
    entry->lock = std::move(answer.value());
    entry->lock->on_lost([weak = std::weak_ptr(entry)] {
        if (const auto stolen = weak.lock()) stolen->over = true;
    });
    entry->settled.complete({});
    on_next();
}

/// Uses the request that was made ahead, if it is still valid: a new one would be queued behind
/// this tab's later requests.
Task<std::unique_ptr<HeldLock>> WebLock::acquire_entry_lock(NativeRequest request) {
    if (const auto entry = request.entry) {
        waiting_ = entry->signal;
        ++asked_;
        answered_ = false;
        co_await entry->settled.async();
        answered_ = true;
        if (cancelled_ || entry->over) entry->give_up();
        co_return std::exchange(entry->lock, nullptr);
    }
    co_return co_await request_lock(context_.names.entry_lock(key_), request);
}

Task<std::unique_ptr<HeldLock>> WebLock::request_lock(std::string name, NativeRequest request) {
    LockRequest native{.name = std::move(name), .mode = request.mode};
    if (request.if_available) {
        native.if_available = true;
    } else {
        waiting_ = AbortSignal();
        native.signal = waiting_;
    }
    ++asked_;
    answered_ = false;
    auto answer = co_await attempt(context_.world.locks().request(std::move(native)));
    answered_ = true;
    if (answer) co_return std::move(answer.value());
    if (answer.error().code() != ErrorCode::lock_lost) co_await fail(answer.error());
    co_return nullptr;
}

/// Gives the hold its tokens, under the entry lock, before any caller is granted the lock.
Task<void> WebLock::assign_tokens(std::shared_ptr<NativeHold> hold, NativeRequest request) {
    entering_ = hold;
    bool contended = false;
    if (const auto reservation = reservation_) {
        *reservation->granted = true;
        // A tab whose timers run late does not rely on the tokens that it has reserved.
        reservation->trusted = reservation->trusted && reservation->awake.in_time();
        co_await reservation->settled.async();
        contended = reservation->tokens && reservation->tokens->contended;
        if (reservation->trusted && reservation->tokens) {
            hold->tokens = *std::move(reservation->tokens);
        }
    }
    if (hold->tokens.empty()) {
        auto raised = co_await attempt(
            context_.epochs.raise(key_, request.claim, [&hold] { return !hold->lost; }));
        if (raised) {
            hold->tokens = std::move(raised.value());
            hold->tokens.contended |= contended;
        } else if (raised.error().code() == ErrorCode::lock_lost) {
            hold->lost = true;
        } else {
            co_await fail(raised.error());
        }
    }
}

Task<void> WebLock::reserve(std::shared_ptr<TokenReservation> reservation, LockClaim claim) {
    auto reserved =
        co_await attempt(context_.epochs.reserve(key_, std::move(claim), reservation->granted));
    if (reserved) reservation->tokens = std::move(reserved.value());
    reservation->settled.complete({});
}

/// Steals the entry lock first: its holder, which has reserved tokens, learns of the loss before it
/// can be granted the lock. Both locks are requested in one turn, and the entry lock is held until
/// the epoch has begun.
Task<std::shared_ptr<NativeHold>> WebLock::steal(NativeRequest request) {
    auto& locks = context_.world.locks();
    auto entry_lock_asked = locks.request({.name = context_.names.entry_lock(key_), .steal = true});
    auto lock_asked = locks.request({.name = context_.names.lock(key_), .steal = true});
    const auto entry_lock = co_await std::move(entry_lock_asked);
    auto hold = hold_of(co_await std::move(lock_asked), request.mode);
    auto raised = co_await attempt(
        context_.epochs.raise(key_, request.claim, [&hold] { return !hold->lost; }));
    if (raised) {
        hold->tokens = std::move(raised.value());
    } else if (raised.error().code() == ErrorCode::lock_lost) {
        hold->lost = true;
    } else {
        co_await fail(raised.error());
    }
    co_return hold;
}

/// A writer in a tab that still holds the lock as a reader has not requested the lock yet, but
/// holds the entry lock exclusively. That counts as waiting, too.
Task<bool> WebLock::query_other_waiters(bool is_next) {
    auto answer = co_await attempt(context_.queries.query());
    if (!answer || !answer.value()->snapshot.complete) co_return true;
    const auto& held = answer.value()->snapshot.held;
    const auto& pending = answer.value()->snapshot.pending;
    const auto entry_lock = context_.names.entry_lock(key_);
    const bool entered = std::any_of(held.begin(), held.end(), [&](const LockInfo& lock) {
        return lock.name == entry_lock && lock.mode == LockMode::exclusive;
    });
    const auto waits = [&](const std::string& name) {
        return std::any_of(pending.begin(), pending.end(),
                           [&](const LockInfo& lock) { return lock.name == name; });
    };
    co_return waits(context_.names.lock(key_)) || (entered && !is_next) || waits(entry_lock);
}

/// Queries the lock manager after the request was made. The browser answers in order, and grants at
/// once what it can. So a request that has no answer when the query has one waits for another tab.
Task<bool> WebLock::is_known_to_wait() {
    const auto asked = asked_;
    if (answered_ || !co_await attempt(context_.queries.query(context_.names.lock(key_)))) {
        co_return false;
    }
    co_return !answered_ && asked_ == asked;
}

void WebLock::release(const std::shared_ptr<NativeHold>& hold) {
    hold->lock.reset();
    hold->entry_lock.reset();
    hold->liveness.reset();
}

void WebLock::cancel() {
    cancelled_ = true;
    // A page that is being left releases its locks in the same turn.
    if (const auto entering = entering_.lock()) {
        entering->lost = true;
        entering->lock.reset();
    }
    auto entry_lock = std::move(entry_lock_);  // a request that goes on within abort() has another
    waiting_.abort();                          // before the next request is granted the entry lock
    entry_lock.reset();
}

}  // namespace tabacus
