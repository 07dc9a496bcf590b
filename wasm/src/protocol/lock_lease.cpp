#include "lock_lease.hpp"

#include <algorithm>
#include <array>

namespace tabacus {
namespace {

constexpr std::int64_t lease_visible_ms = 5'000;
/// A hidden tab's timers may run once a minute: a renewal a minute, and half as much again.
constexpr std::int64_t lease_hidden_ms = 90'000;
/// A release is told on the channel; this is for one that was not heard.
constexpr double look_first_ms = 20;
constexpr double look_last_ms = 500;

/// What must not change for a lease to have run out.
std::string state_of(const LockRow& row) { return row.grant + "/" + std::to_string(row.beat); }

}  // namespace

std::int64_t LeaseTurnstile::lease_ms() const {
    return context_.world.lifecycle().hidden() ? lease_hidden_ms : lease_visible_ms;
}

Task<std::shared_ptr<Possession>> LeaseTurnstile::take(Wish wish) {
    if (!wish.steal) cancelled_ = false;
    double pause_ms = look_first_ms;
    double unchanged_ms = 0;
    std::string former;
    stale_.clear();
    while (true) {
        Seen seen;
        auto possession = co_await try_now(wish, seen);
        if (possession) co_return possession;
        if (wish.if_available || cancelled_) co_return nullptr;
        if (seen.state != former) unchanged_ms = 0;
        former = seen.state;
        if (unchanged_ms >= seen.lease_ms) {
            stale_ = seen.state;
            continue;
        }
        const auto pause = std::min(pause_ms, seen.lease_ms - unchanged_ms);
        if (co_await wait(pause)) unchanged_ms += pause;
        if (cancelled_) co_return nullptr;
        pause_ms = std::min(pause_ms * 2, look_last_ms);
    }
}

Task<bool> LeaseTurnstile::wait(double delay_ms) {
    const Completer<Unit> bell;
    bell_ = bell;
    const auto slept = std::make_shared<bool>(false);
    context_.scope.spawn([](LockContext& context, Completer<Unit> ring, double pause_ms,
                            std::shared_ptr<bool> whole) -> Task<void> {
        co_await context.world.clock().sleep(pause_ms);
        *whole = !ring.completed();
        ring.complete({});
    }(context_, bell, delay_ms, slept));
    co_await bell.async();
    co_return *slept;
}

/// One transaction. Nothing when another holds it; `seen` then says what was found.
Task<std::shared_ptr<Possession>> LeaseTurnstile::try_now(Wish wish, Seen& seen) {
    const std::vector scope{Store::locks, Store::aside};
    auto possession = std::make_shared<Possession>();
    possession->mode = wish.mode;
    {
        const auto transaction = co_await context_.epochs.transactions().begin(scope, Access::write,
                                                                               Durability::relaxed);
        const auto row = co_await context_.epochs.read_in(*transaction, key_);
        if (row && row->beat > 0 && !wish.steal && state_of(*row) != stale_) {
            seen = {state_of(*row), static_cast<double>(std::clamp(row->lease_ms, std::int64_t{1},
                                                                   lease_hidden_ms))};
            co_return nullptr;
        }
        auto claim = wish.claim;
        claim.lease_ms = lease_ms();
        possession->tokens = co_await context_.epochs.raise_in(*transaction, key_, claim);
        co_await transaction->commit();
    }
    context_.scope.spawn(renew(possession));
    co_return possession;
}

/// Tells the holder when the lease is another's; renews it three times in its length.
Task<void> LeaseTurnstile::renew(std::weak_ptr<Possession> weak) {
    while (true) {
        co_await context_.world.clock().sleep(static_cast<double>(lease_visible_ms) / 3);
        const auto possession = weak.lock();
        if (!possession || possession->lost) co_return;
        const auto renewed = co_await attempt(renew_once(possession));
        if (renewed || renewed.error().code() != ErrorCode::fenced) continue;
        if (possession->on_lost) possession->on_lost("fenced");
        co_return;
    }
}

Task<void> LeaseTurnstile::renew_once(std::shared_ptr<Possession> possession) {
    const std::vector scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, possession->tokens);
    ++row.beat;
    row.lease_ms = lease_ms();
    transaction->put(Store::locks, key_, format_lock_row(row));
    co_await transaction->commit();
}

void LeaseTurnstile::cancel() {
    cancelled_ = true;
    bell_.complete({});
}

void LeaseTurnstile::let_go(const std::shared_ptr<Possession>& possession) {
    context_.scope.spawn(give_back(possession->tokens));
}

Task<void> LeaseTurnstile::give_back(LockTokens tokens) {
    // Else it runs out, or is another's.
    if (co_await attempt(end_lease(std::move(tokens)))) {
        context_.post(LockMessage::Kind::released, key_);
    }
}

Task<void> LeaseTurnstile::end_lease(LockTokens tokens) {
    const std::vector scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, tokens);
    row.beat = 0;
    transaction->put(Store::locks, key_, format_lock_row(row));
    co_await transaction->commit();
}

}  // namespace tabacus
