#include "entry_lock.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// How often a tab that waits sees whether it is awake, and how late that may be. Nobody is evicted
/// sooner after its grant (evict.cpp).
constexpr double look_ms = 50;
constexpr double late_ms = 100;
/// Who waits for longer reserves anew: that costs it a transaction.
constexpr double awake_for_ms = 2'000;

std::shared_ptr<Possession> possession_of(std::unique_ptr<HeldLock> lock, LockMode mode) {
    auto possession = std::make_shared<Possession>();
    possession->mode = mode;
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
    return possession;
}

}  // namespace

Task<std::shared_ptr<Possession>> WebTurnstile::take(Wish wish) {
    if (wish.steal) co_return co_await rob(std::move(wish));
    cancelled_ = false;
    co_return co_await pass_the_gate(std::move(wish));
}

/// The lock, taken under the gate. Nothing: not available, cancelled, or the gate was stolen.
Task<std::shared_ptr<Possession>> WebTurnstile::pass_the_gate(Wish wish) {
    gate_lost_ = false;
    gate_ = co_await ask_for_the_gate(wish);
    if (!gate_ || cancelled_) {
        gate_.reset();
        co_return nullptr;
    }
    gate_->on_lost([this] {
        gate_lost_ = true;
        waiting_.abort();
    });
    auto taken = co_await attempt(take_under_the_gate(std::move(wish)));
    // Whatever becomes of it, nobody finds the gate shut behind it.
    entering_.reset();
    reservation_.reset();
    auto gate = std::exchange(gate_, nullptr);
    if (!taken) {
        gate.reset();
        co_await fail(taken.error());
    }
    auto possession = std::move(taken.value());
    if (possession) possession->gate = std::move(gate);
    co_return possession;
}

Task<std::shared_ptr<Possession>> WebTurnstile::take_under_the_gate(Wish wish) {
    const bool exclusive = wish.mode == LockMode::exclusive;
    const bool equips = exclusive && wish.claim.tokens > 0;
    if (equips && !wish.if_available && context_.epochs.fenced()) {
        reservation_ = std::make_shared<Reservation>();
        context_.scope.spawn(reserve(reservation_, wish.claim));
        context_.scope.spawn(stay_awake(reservation_));
    }
    auto lock = co_await ask(context_.names.lock(key_), wish);
    if (!lock || cancelled_ || (exclusive && gate_lost_)) co_return nullptr;
    auto possession = possession_of(std::move(lock), wish.mode);
    if (equips) co_await equip(possession, std::move(wish));
    co_return possession;
}

std::shared_ptr<Ticket> WebTurnstile::line_up(LockMode mode, std::function<void()> next) {
    auto ticket = std::make_shared<Ticket>();
    context_.scope.spawn(stand(ticket, mode, std::move(next)));
    return ticket;
}

Task<void> WebTurnstile::stand(std::shared_ptr<Ticket> ticket, LockMode mode,
                               std::function<void()> next) {
    auto answer = co_await attempt(context_.world.locks().request(
        {.name = context_.names.lock_gate(key_), .mode = mode, .signal = ticket->signal}));
    if (ticket->over) co_return;
    if (!answer) co_return ticket->give_back();
    ticket->gate = std::move(answer.value());
    ticket->gate->on_lost([weak = std::weak_ptr(ticket)] {
        if (const auto robbed = weak.lock()) robbed->over = true;
    });
    ticket->settled.complete({});
    next();
}

/// What a ticket stood for, if it still does: who asked anew would stand behind its own later ones.
Task<std::unique_ptr<HeldLock>> WebTurnstile::ask_for_the_gate(Wish wish) {
    if (const auto ticket = wish.ticket) {
        waiting_ = ticket->signal;
        ++asked_;
        answered_ = false;
        co_await ticket->settled.async();
        answered_ = true;
        if (cancelled_ || ticket->over) ticket->give_back();
        co_return std::exchange(ticket->gate, nullptr);
    }
    co_return co_await ask(context_.names.lock_gate(key_), wish);
}

Task<std::unique_ptr<HeldLock>> WebTurnstile::ask(std::string name, Wish wish) {
    LockRequest request{.name = std::move(name), .mode = wish.mode};
    if (wish.if_available) {
        request.if_available = true;
    } else {
        waiting_ = AbortSignal();
        request.signal = waiting_;
    }
    ++asked_;
    answered_ = false;
    auto answer = co_await attempt(context_.world.locks().request(std::move(request)));
    answered_ = true;
    if (answer) co_return std::move(answer.value());
    if (answer.error().code() != ErrorCode::lock_lost) co_await fail(answer.error());
    co_return nullptr;
}

/// The possession's tokens, under the gate, before anybody is told of the grant.
Task<void> WebTurnstile::equip(std::shared_ptr<Possession> possession, Wish wish) {
    entering_ = possession;
    if (const auto reservation = reservation_) {
        *reservation->granted = true;
        reservation->trusted = reservation->trusted && awake(*reservation);
        co_await reservation->settled.async();
        if (reservation->trusted && reservation->tokens) {
            possession->tokens = *std::move(reservation->tokens);
        }
    }
    if (possession->tokens.empty()) {
        auto raised = co_await attempt(
            context_.epochs.raise(key_, wish.claim, [&possession] { return !possession->lost; }));
        if (raised) {
            possession->tokens = std::move(raised.value());
        } else if (raised.error().code() == ErrorCode::lock_lost) {
            possession->lost = true;
        } else {
            co_await fail(raised.error());
        }
    }
}

Task<void> WebTurnstile::reserve(std::shared_ptr<Reservation> reservation, LockClaim claim) {
    auto reserved =
        co_await attempt(context_.epochs.reserve(key_, std::move(claim), reservation->granted));
    if (reserved) reservation->tokens = std::move(reserved.value());
    reservation->settled.complete({});
}

/// Distrusts what is reserved as soon as this tab's timers run late.
Task<void> WebTurnstile::stay_awake(std::shared_ptr<Reservation> reservation) {
    auto& clock = context_.world.clock();
    const auto began_ms = reservation->seen_ms = clock.now_ms();
    while (reservation->trusted && !*reservation->granted && reservation.use_count() > 1) {
        co_await clock.sleep(look_ms);
        const bool in_time = awake(*reservation);
        reservation->seen_ms = clock.now_ms();
        reservation->trusted =
            reservation->trusted && in_time && reservation->seen_ms - began_ms < awake_for_ms;
    }
}

bool WebTurnstile::awake(const Reservation& reservation) const {
    const auto age_ms = context_.world.clock().now_ms() - reservation.seen_ms;
    return age_ms >= 0 && age_ms <= late_ms;  // a clock that was set back says nothing
}

/// The gate first: who waits at it, with tokens, hears that before it can be let in. Both are asked
/// for in one turn, and the gate is kept until the epoch has begun.
Task<std::shared_ptr<Possession>> WebTurnstile::rob(Wish wish) {
    auto& locks = context_.world.locks();
    auto gate_asked = locks.request({.name = context_.names.lock_gate(key_), .steal = true});
    auto lock_asked = locks.request({.name = context_.names.lock(key_), .steal = true});
    const auto gate = co_await std::move(gate_asked);
    auto possession = possession_of(co_await std::move(lock_asked), wish.mode);
    auto raised = co_await attempt(
        context_.epochs.raise(key_, wish.claim, [&possession] { return !possession->lost; }));
    if (raised) {
        possession->tokens = std::move(raised.value());
    } else if (raised.error().code() == ErrorCode::lock_lost) {
        possession->lost = true;
    } else {
        co_await fail(raised.error());
    }
    co_return possession;
}

/// A writer whose own tab reads does not ask for the lock yet: it shuts the gate.
Task<Waiting> WebTurnstile::who_waits(bool is_next) {
    auto snapshot = co_await attempt(context_.world.locks().query());
    if (!snapshot) co_return Waiting::before;
    const auto& held = snapshot.value().held;
    const auto& pending = snapshot.value().pending;
    const auto gate = context_.names.lock_gate(key_);
    const bool shut = std::any_of(held.begin(), held.end(), [&](const LockInfo& lock) {
        return lock.name == gate && lock.mode == LockMode::exclusive;
    });
    const auto waits = [&](const std::string& name) {
        return std::any_of(pending.begin(), pending.end(),
                           [&](const LockInfo& lock) { return lock.name == name; });
    };
    if (waits(context_.names.lock(key_)) || (shut && !is_next)) co_return Waiting::before;
    if (!waits(gate)) co_return Waiting::nobody;
    co_return is_next ? Waiting::behind : Waiting::before;
}

/// The browser answers in the order in which it is asked, and grants what it can at once: what it
/// has not answered before a later question waits.
Task<bool> WebTurnstile::kept_waiting() {
    const auto asked = asked_;
    if (answered_ || !co_await attempt(context_.world.locks().query())) co_return false;
    co_return !answered_ && asked_ == asked;
}

void WebTurnstile::cancel() {
    cancelled_ = true;
    // A page that goes lets its locks go in the very turn.
    if (const auto entering = entering_.lock()) {
        entering->lost = true;
        entering->lock.reset();
    }
    auto gate = std::move(gate_);  // who goes on within abort() has another
    waiting_.abort();              // before the next one is let pass the gate
    gate.reset();
}

}  // namespace tabacus
