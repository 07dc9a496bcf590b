#include "lock_turnstile.hpp"

namespace tabacus {

Task<std::shared_ptr<Possession>> WebTurnstile::take(Wish wish) {
    if (wish.steal) {
        auto lock = co_await context_.world.locks().request(
            {.name = context_.names.lock(key_), .steal = true});
        co_return co_await possession(std::move(lock), wish);
    }
    cancelled_ = false;
    while (!cancelled_) {
        auto lock = co_await pass_the_gate(wish);
        if (lock) co_return co_await possession(std::move(lock), wish);
        if (!gate_lost_) break;
    }
    co_return nullptr;
}

/// The lock, taken under the gate. Nothing: not available, cancelled, or the gate was stolen.
Task<std::unique_ptr<HeldLock>> WebTurnstile::pass_the_gate(Wish wish) {
    gate_lost_ = false;
    auto gate = co_await ask(context_.names.lock_gate(key_), wish);
    if (!gate || cancelled_) co_return nullptr;
    at_the_gate_ = true;
    gate->on_lost([this] {
        gate_lost_ = true;
        waiting_.abort();
    });
    auto lock = co_await ask(context_.names.lock(key_), wish);
    at_the_gate_ = false;
    if (cancelled_) co_return nullptr;
    co_return lock;
}

Task<std::unique_ptr<HeldLock>> WebTurnstile::ask(std::string name, Wish wish) {
    LockRequest request{.name = std::move(name), .mode = wish.mode};
    if (wish.if_available) {
        request.if_available = true;
    } else {
        waiting_ = AbortSignal();
        request.signal = waiting_;
    }
    auto answer = co_await attempt(context_.world.locks().request(std::move(request)));
    if (answer) co_return std::move(answer.value());
    if (answer.error().code() != ErrorCode::lock_lost) co_await fail(answer.error());
    co_return nullptr;
}

/// The epoch begins under the lock, before anybody is told of the grant.
Task<std::shared_ptr<Possession>> WebTurnstile::possession(std::unique_ptr<HeldLock> lock,
                                                           Wish wish) {
    auto possession = std::make_shared<Possession>();
    possession->mode = wish.mode;
    possession->lock = std::move(lock);
    possession->lock->on_lost([weak = std::weak_ptr(possession)] {
        const auto robbed = weak.lock();
        if (!robbed) return;
        if (robbed->on_lost) {
            robbed->on_lost("stolen");
        } else {
            robbed->lost = true;
        }
    });
    if (wish.mode == LockMode::exclusive) {
        if (!wish.steal) entering_ = possession;
        possession->tokens = co_await context_.epochs.raise(key_, wish.claim);
        entering_.reset();
    }
    co_return possession;
}

void WebTurnstile::cancel() {
    cancelled_ = true;
    waiting_.abort();
    // A page that goes lets its locks go in the very turn.
    if (const auto entering = entering_.lock()) {
        entering->lost = true;
        entering->lock.reset();
    }
}

}  // namespace tabacus
