// Eviction: how a lock comes free again when its holder is frozen or hung and cannot release it.
//
// Only under maxHold. A waiter that has seen nothing move for longer than that, by its own timer,
// steals the lock, begins a new epoch (so that the hung holder can write nothing any more), and
// releases it at once: the queue goes on in its order, and a tab gains nothing by evicting. Four
// rules keep tabs from evicting one after another:
//  - Each state seen without movement is evicted by one tab: the claim is a row in IndexedDB. A tab
//    that finds another's claim leaves it alone, and takes over only what stays unmoved for longer
//    still.
//  - The first in line checks after one maxHold, those behind it after two.
//  - Only a tab that receives its own message on the channel evicts. A tab whose channel does not
//    work, or that was thawed a moment ago, cannot know that nothing has moved.
//  - A holder that lives keeps the time itself (LockQueue::limit) and is gone before that. While
//    others wait it also announces each grant with a maxHold under one native hold: the row and the
//    browser's locks do not show those.
#include <algorithm>
#include <functional>
#include <limits>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// Most waits are over by then, and need no watching.
constexpr double watch_after_ms = 250;
/// How often a waiter checks whether a maxHold has been declared, when it knows of none.
constexpr double max_hold_poll_ms = 5'000;
/// Waited beyond maxHold: for the holder's own timer and for the message of its end.
constexpr double eviction_margin_ms = 2 * slice_ms + 50;
constexpr double echo_within_ms = 1'000;
constexpr std::int64_t rounds_max = 8;

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
    for (const auto& request : waiting_) {
        const auto own = request->options.max_hold_ms;
        if (!request->ended && own) least = std::min(least.value_or(*own), *own);
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
    while (!self.expired() && acquiring_ && !context_.closed) {
        const auto moves = moves_;
        auto before = co_await attempt(observe());
        auto max_hold = own_max_hold_ms().value_or(std::numeric_limits<double>::infinity());
        if (before && before.value().max_hold_ms > 0) {
            max_hold = std::min(max_hold, static_cast<double>(before.value().max_hold_ms));
        }
        if (!before || max_hold == std::numeric_limits<double>::infinity()) {
            co_await clock.sleep(max_hold_poll_ms);
            continue;
        }
        const auto state = before.value().state;
        const auto rounds =
            state == claimed_state_ ? std::min(claimed_attempt_ + 1, rounds_max) : std::int64_t{1};
        const bool first = native_lock_->first_in_line();
        co_await clock.sleep((max_hold + eviction_margin_ms) * (first ? 1 : 2) *
                             static_cast<double>(rounds));
        if (self.expired() || !acquiring_ || context_.suspended) continue;
        (void)co_await attempt(evict_if_unmoved(state, moves));  // the next round follows
    }
    watching_ = false;
}

/// Evicts the lock's holder, if nothing moved from `state` and this tab's claim succeeds.
Task<void> LockQueue::evict_if_unmoved(std::string state, std::uint64_t moves) {
    const auto seen = co_await observe();
    if (seen.state != state || !co_await channel_echoes() || !acquiring_ || moves != moves_)
        co_return;
    if (!co_await claim_eviction(seen) || !acquiring_) co_return;
    co_await evict();
}

/// Everything that changes when any tab makes progress: the epoch, and the holders of the lock and
/// of the entry lock.
Task<LockQueue::Observation> LockQueue::observe() {
    const auto row = co_await context_.epochs.read(key_);
    const auto snapshot = co_await context_.world.locks().query();
    Observation observation;
    std::vector<std::string> holders;
    for (const auto& lock : snapshot.held) {
        const bool is_entry = lock.name == context_.names.entry_lock(key_);
        if (!is_entry && lock.name != context_.names.lock(key_)) continue;
        holders.push_back((is_entry ? "gate " : "lock ") + lock.client_id);
    }
    sort_stably(holders, std::less<>());
    observation.epoch = describe(row);
    if (row) observation.max_hold_ms = row->max_hold_ms;
    auto text = observation.epoch;
    for (const auto& holder : holders) (text += '\n') += holder;
    observation.state = digest(text);
    co_return observation;
}

/// True when a message of this tab came back to it: its channel and its event loop work.
Task<bool> LockQueue::channel_echoes() {
    const auto sender = context_.world.channel(context_.names.locks_channel());
    if (!sender || !context_.channel) co_return false;
    const auto nonce = identifier_of(context_.world.random().bits());
    const Completer<Unit> echoed;
    context_.echoes[nonce] = echoed;
    context_.scope.spawn([](LockContext& context, Completer<Unit> unanswered) -> Task<void> {
        co_await context.world.clock().sleep(echo_within_ms);
        unanswered.complete({});
    }(context_, echoed));
    sender->post(
        format_lock_message({LockMessage::Kind::echo, key_, context_.epochs.tab(), {nonce}}));
    co_await echoed.async();
    // A message that came back took its nonce away.
    co_return context_.echoes.erase(nonce) == 0;
}

/// Claims the eviction of what was seen; false if another tab has it. The claim is in one
/// transaction with the epoch, which another tab's eviction moves: a tab that was held up meanwhile
/// does not steal from the holder that was let in by then.
Task<bool> LockQueue::claim_eviction(Observation seen) {
    const auto& state = seen.state;
    constexpr Stores scope{Store::locks, Store::quarantine};
    const auto where = key_ + "/rescue";
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    if (describe(co_await context_.epochs.read_in(*transaction, key_)) != seen.epoch) {
        co_return false;
    }
    const auto stored = co_await transaction->get(Store::locks, where);
    const auto former = stored ? parse_eviction_row(stored->value) : std::nullopt;
    EvictionRow claim{1, context_.epochs.tab(), state};
    if (former && former->state == state) {
        const bool known = claimed_state_ == state && claimed_attempt_ == former->attempt;
        claimed_state_ = state;
        claimed_attempt_ = former->attempt;
        // Another is at it: it may take as long as this tab took, before it counts as hung itself.
        if (!known) co_return false;
        claim.attempt = former->attempt + 1;
        claimed_attempt_ = claim.attempt;
    }
    transaction->put(Store::locks, where, format_eviction_row(claim));
    co_await transaction->commit();
    co_return true;
}

/// Steals the entry lock first, as WebLock::steal() does, unless this tab holds it.
Task<void> LockQueue::evict() {
    auto& locks = context_.world.locks();
    ++context_.evictions;
    context_.on_notice({Notice::Kind::warning, "hung-holder",
                        "A lock was taken from a holder that did not release it within maxHold.",
                        name_, "", 0});
    {
        std::optional<Async<std::unique_ptr<HeldLock>>> entry_asked;
        if (native_lock_->first_in_line()) {
            native_lock_->void_reservation();
        } else {
            entry_asked = locks.request({.name = context_.names.entry_lock(key_), .steal = true});
        }
        const auto evicted =
            co_await locks.request({.name = context_.names.lock(key_), .steal = true});
        const auto entry_lock = entry_asked ? co_await std::move(*entry_asked) : nullptr;
        co_await context_.epochs.raise(key_, {.label = "rescue"});
    }
    context_.post(LockMessage::Kind::released, key_);
}

}  // namespace tabacus
