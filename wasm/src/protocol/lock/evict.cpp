// Eviction: how a lock comes free again whose holder is frozen or hung and cannot let it go.
//
// Only under maxHold. A waiter that has seen nothing move for longer than that, by its own timer,
// steals the lock, begins a new epoch (so that the hung holder can write nothing any more), and
// lets it go at once: the queue goes on in its order, and nobody profits from robbing. Four things
// keep it from becoming a storm:
//  - Each thing seen without movement is one tab's to evict: the claim is a row in IndexedDB. Who
//    finds another's claim leaves it alone, and takes over only what stays unmoved for longer
//    still.
//  - The first in line looks after one maxHold, those behind it after two.
//  - Only a tab that hears itself on the channel: a deaf or barely thawed one proves nothing.
//  - A holder that lives keeps the time itself (LockQueue::limit) and is gone before that. While
//    others wait it tells of each grant with a maxHold, too, under one possession, of which the row
//    and the browser's locks tell nothing.
#include <algorithm>
#include <array>
#include <limits>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// Most waits are over by then, and need no watching.
constexpr double watch_after_ms = 250;
/// How often a waiter looks whether a maxHold has been declared, when it knows of none.
constexpr double look_again_ms = 5'000;
/// Beyond maxHold: for the holder's own timer and for the news of its end.
constexpr double grace_ms = 2 * slice_ms + 50;
constexpr double hear_within_ms = 1'000;
constexpr std::int64_t patience_max = 8;

/// A fingerprint as an identifier (FNV-1a).
std::string digest(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return identifier_of(hash);
}

std::string describe(const std::optional<LockRow>& row) {
    return row ? row->grant + "/" + std::to_string(row->last) : "";
}

}  // namespace

std::optional<double> LockQueue::own_max_hold_ms() const {
    std::optional<double> least;
    for (const auto& waiter : waiting_) {
        const auto own = waiter->options.max_hold_ms;
        if (!waiter->ended && own) least = std::min(least.value_or(*own), *own);
    }
    return least;
}

Task<void> LockQueue::watch() {
    const auto self = weak_from_this();
    auto& clock = context_.world.clock();
    // A lease ends by itself, and within the page nobody else holds.
    if (!context_.world.locks().available() || !context_.epochs.fenced()) co_return;
    watching_ = true;
    co_await clock.sleep(std::min(watch_after_ms, own_max_hold_ms().value_or(watch_after_ms)));
    while (!self.expired() && taking_ && !context_.closed) {
        const auto moves = moves_;
        auto before = co_await attempt(look());
        auto max_hold = own_max_hold_ms().value_or(std::numeric_limits<double>::infinity());
        if (before && before.value().max_hold_ms > 0) {
            max_hold = std::min(max_hold, static_cast<double>(before.value().max_hold_ms));
        }
        if (!before || max_hold == std::numeric_limits<double>::infinity()) {
            co_await clock.sleep(look_again_ms);
            continue;
        }
        const auto state = before.value().state;
        const auto patience = state == claimed_state_ ? std::min(claimed_attempt_ + 1, patience_max)
                                                      : std::int64_t{1};
        const bool first = turnstile_->first_in_line();
        co_await clock.sleep((max_hold + grace_ms) * (first ? 1 : 2) *
                             static_cast<double>(patience));
        if (self.expired() || !taking_ || context_.asleep) continue;
        (void)co_await attempt(rescue_from(state, moves));  // another look follows
    }
    watching_ = false;
}

/// Evicts who holds the lock, if nothing moved from `state` and it is this tab's to evict.
Task<void> LockQueue::rescue_from(std::string state, std::uint64_t moves) {
    const auto seen = co_await look();
    if (seen.state != state || !co_await hears() || !taking_ || moves != moves_) co_return;
    if (!co_await claim_rescue(seen) || !taking_) co_return;
    co_await evict();
}

/// Everything that moves when anybody gets on: the epoch, and who holds the lock and the gate.
Task<LockQueue::Sight> LockQueue::look() {
    const auto row = co_await context_.epochs.read(key_);
    const auto snapshot = co_await context_.world.locks().query();
    Sight sight;
    std::vector<std::string> holders;
    for (const auto& lock : snapshot.held) {
        const bool gate = lock.name == context_.names.lock_gate(key_);
        if (!gate && lock.name != context_.names.lock(key_)) continue;
        holders.push_back((gate ? "gate " : "lock ") + lock.client_id);
    }
    std::sort(holders.begin(), holders.end());
    sight.epoch = describe(row);
    if (row) sight.max_hold_ms = row->max_hold_ms;
    auto text = sight.epoch;
    for (const auto& holder : holders) (text += '\n') += holder;
    sight.state = digest(text);
    co_return sight;
}

/// True when a message of this tab came back to it: its channel and its event loop work.
Task<bool> LockQueue::hears() {
    const auto voice = context_.world.channel(context_.names.locks_channel());
    if (!voice || !context_.channel) co_return false;
    const auto nonce = identifier_of(context_.world.random().bits());
    const Completer<Unit> heard;
    context_.hearing[nonce] = heard;
    context_.scope.spawn([](LockContext& context, Completer<Unit> bell) -> Task<void> {
        co_await context.world.clock().sleep(hear_within_ms);
        bell.complete({});
    }(context_, heard));
    voice->post(
        format_lock_message({LockMessage::Kind::hear, key_, context_.epochs.tab(), {nonce}}));
    co_await heard.async();
    // A word that came back took its nonce away.
    co_return context_.hearing.erase(nonce) == 0;
}

/// True when evicting what is seen is this tab's. In one transaction with the epoch, which the
/// rescue of another moves: who was held up meanwhile does not rob whom that one let in.
Task<bool> LockQueue::claim_rescue(Sight seen) {
    const auto& state = seen.state;
    const std::vector scope{Store::locks, Store::aside};
    const auto where = key_ + "/rescue";
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    if (describe(co_await context_.epochs.read_in(*transaction, key_)) != seen.epoch) {
        co_return false;
    }
    const auto stored = co_await transaction->get(Store::locks, where);
    const auto former = stored ? parse_rescue_row(stored->value) : std::nullopt;
    RescueRow claim{1, context_.epochs.tab(), state};
    if (former && former->state == state) {
        const bool known = claimed_state_ == state && claimed_attempt_ == former->attempt;
        claimed_state_ = state;
        claimed_attempt_ = former->attempt;
        // Another is at it: it may take as long as this tab took, before it counts as hung itself.
        if (!known) co_return false;
        claim.attempt = former->attempt + 1;
        claimed_attempt_ = claim.attempt;
    }
    transaction->put(Store::locks, where, format_rescue_row(claim));
    co_await transaction->commit();
    co_return true;
}

/// The gate first, as WebTurnstile::rob() does; or it is this tab's.
Task<void> LockQueue::evict() {
    auto& locks = context_.world.locks();
    ++context_.rescues;
    context_.on_notice({Notice::Kind::warning, "hung-holder",
                        "A lock was taken from a holder that did not let it go within maxHold.",
                        name_, "", 0});
    {
        std::optional<Async<std::unique_ptr<HeldLock>>> gate_asked;
        if (turnstile_->first_in_line()) {
            turnstile_->distrust();
        } else {
            gate_asked = locks.request({.name = context_.names.lock_gate(key_), .steal = true});
        }
        const auto evicted =
            co_await locks.request({.name = context_.names.lock(key_), .steal = true});
        const auto gate = gate_asked ? co_await std::move(*gate_asked) : nullptr;
        co_await context_.epochs.raise(key_, {.label = "rescue"});
    }
    context_.post(LockMessage::Kind::released, key_);
}

}  // namespace tabacus
