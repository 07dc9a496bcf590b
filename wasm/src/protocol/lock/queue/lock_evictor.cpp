#include "lock_evictor.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"
#include "protocol/common/timer.hpp"
#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// Most waits are over after this time, and need no observation.
constexpr double observe_after_ms = 250;
/// How long a waiter that knows of no maxHold waits after an announced grant before it checks
/// whether one has been declared.
constexpr double max_hold_pause_ms = 5'000;
/// How long a waiter waits beyond maxHold: the holder's own timer and its message about the release
/// may be late.
constexpr double eviction_margin_ms = 2 * slice_ms + 50;
/// The wait for another tab that claimed the eviction grows up to this many times maxHold.
constexpr std::int64_t rounds_max = 8;

/// Returns a hash of the text as an identifier (FNV-1a).
std::string digest(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : text) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3U;
    }
    return identifier_of(hash);
}

/// Returns the part of the row that every new epoch and every reservation changes.
std::string describe(const std::optional<LockRow>& row) {
    return row ? row->grant + "/" + format_decimal(row->last) : "";
}

}  // namespace

Task<void> LockEvictor::run() {
    auto& clock = lock_.clock();
    // A lease expires by itself, and a PageLock excludes only callers of this page.
    if (!lock_.has_web_locks() || !lock_.context.epochs.fenced()) co_return;
    running_ = true;
    const auto own_ms = requests_.least_max_hold_ms();
    co_await clock.sleep(std::min(observe_after_ms, own_ms.value_or(observe_after_ms)));
    constexpr auto never = std::numeric_limits<double>::infinity();
    while (holds_.acquiring() && !lock_.context.state.closed()) {
        const auto moves = moves_;
        auto before = co_await attempt(observe());
        auto max_hold_ms = requests_.least_max_hold_ms().value_or(never);
        if (before && before.value().max_hold_ms > 0) {
            max_hold_ms = std::min(max_hold_ms, static_cast<double>(before.value().max_hold_ms));
        }
        if (!before || max_hold_ms == never) {
            if (before) co_await moved_.wait();
            if (!holds_.acquiring()) break;
            co_await clock.sleep(max_hold_pause_ms);
            continue;
        }
        const auto state = before.value().state;
        const auto rounds =
            state == claimed_state_ ? std::min(claimed_attempt_ + 1, rounds_max) : std::int64_t{1};
        const bool first = lock_.native->first_in_line();
        co_await clock.sleep((max_hold_ms + eviction_margin_ms) * (first ? 1 : 2) *
                             static_cast<double>(rounds));
        if (!holds_.acquiring() || lock_.context.state.suspended()) continue;
        (void)co_await attempt(evict_if_unmoved(state, moves));  // the next round follows
    }
    running_ = false;
}

/// Evicts the lock's holder, if nothing moved from `state` and this tab's claim succeeds.
Task<void> LockEvictor::evict_if_unmoved(std::string state, std::uint64_t moves) {
    const auto seen = co_await observe();
    if (seen.state != state || !co_await lock_.context.messages.receives_own_message(lock_.key) ||
        !holds_.acquiring() || moves != moves_)
        co_return;
    if (!co_await claim_eviction(seen) || !holds_.acquiring()) co_return;
    co_await evict("A lock was taken from a holder that did not release it within maxHold.");
}

Task<bool> LockEvictor::evict_silent(Function<bool()> silent) {
    const auto seen = co_await observe();
    if (!seen.held || !co_await lock_.context.messages.receives_own_message(lock_.key) || !silent())
        co_return false;
    if (!co_await claim_eviction(seen) || !silent()) co_return false;
    co_await evict("A lock was taken from a holder that did not answer.");
    co_return true;
}

/// Returns everything that changes when any tab makes progress: the epoch, and the holders of the
/// lock and of the entry lock.
Task<LockEvictor::Observation> LockEvictor::observe() {
    const auto row = co_await lock_.context.epochs.read(lock_.key);
    const auto& names = lock_.context.names;
    const auto answer = co_await lock_.context.queries.query(names.lock(lock_.key));
    Observation observation;
    std::vector<std::string> holders;
    for (const auto& lock : answer->holders_of(names.entry_lock(lock_.key)))
        holders.push_back("gate " + lock.client_id);
    for (const auto& lock : answer->holders_of(names.lock(lock_.key)))
        holders.push_back("lock " + lock.client_id);
    sort_stably(holders, std::less<>());
    observation.held = !holders.empty();
    observation.epoch = describe(row);
    if (row) observation.max_hold_ms = row->max_hold_ms;
    auto text = observation.epoch;
    for (const auto& holder : holders) (text += '\n') += holder;
    observation.state = digest(text);
    co_return observation;
}

/// Claims the eviction of the holder that was observed. Returns false if another tab has claimed
/// it. The transaction of the claim also reads the epoch. If another tab has evicted the holder
/// meanwhile, the epoch is another one, so that a tab that was delayed does not steal the lock from
/// the next holder.
Task<bool> LockEvictor::claim_eviction(Observation seen) {
    const auto& state = seen.state;
    constexpr Stores scope{Store::locks, Store::quarantine};
    const auto where = eviction_key(lock_.key);
    auto& epochs = lock_.context.epochs;
    const auto transaction = co_await epochs.begin(scope, Access::write, Durability::relaxed);
    if (describe(co_await epochs.read_in(*transaction, lock_.key)) != seen.epoch) {
        co_return false;
    }
    const auto stored = co_await transaction->get(Store::locks, where);
    const auto former = stored ? parse_eviction_row(stored->value) : std::nullopt;
    EvictionRow claim{1, epochs.tab(), state};
    if (former && former->state == state) {
        const bool known = claimed_state_ == state && claimed_attempt_ == former->attempt;
        claimed_state_ = state;
        claimed_attempt_ = former->attempt;
        // The other tab gets as much time as this tab would take, before it counts as hung itself.
        if (!known) co_return false;
        claim.attempt = former->attempt + 1;
        claimed_attempt_ = claim.attempt;
    }
    transaction->put(Store::locks, where, format_eviction_row(claim));
    co_await transaction->commit();
    co_return true;
}

/// Steals the entry lock first, as WebLock::steal() does, unless this tab holds it.
Task<void> LockEvictor::evict(std::string_view why) {
    auto& context = lock_.context;
    auto& locks = context.world.locks();
    context.on_notice({Notice::Kind::warning, "hung-holder", std::string(why), lock_.name, "", 0});
    std::optional<Error> failure;
    {
        std::optional<Async<std::unique_ptr<HeldLock>>> entry_asked;
        if (lock_.native->first_in_line()) {
            lock_.native->void_reservation();
        } else {
            entry_asked =
                locks.request({.name = context.names.entry_lock(lock_.key), .steal = true});
        }
        const auto evicted =
            co_await locks.request({.name = context.names.lock(lock_.key), .steal = true});
        const auto entry_lock = entry_asked ? co_await std::move(*entry_asked) : nullptr;
        const auto raised = co_await attempt(context.epochs.raise(lock_.key, {.label = "rescue"}));
        if (!raised) failure = raised.error();
    }
    lock_.post_near(LockMessage::Kind::released);
    if (failure) co_await fail(*failure);
}

}  // namespace tabacus
