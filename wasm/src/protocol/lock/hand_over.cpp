// How long a native hold goes on granting, and when it is handed over to another tab.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// A tab that grants again and again reserves tokens in growing blocks, one transaction each. At
/// the largest a block takes longer to use up than its microseconds (LockEpochs).
constexpr std::int64_t block_growth = 16;
constexpr std::int64_t block_max = 4096;
/// The barging window in steps, and the microtasks of a step: together twice as many as are between
/// the end of one run() and the next. After each step the time is checked.
constexpr int barging_steps = 3;
constexpr int microtasks_per_step = 8;
/// More microtasks than are between the end of a lock's promise and its release.
constexpr int releasing_microtasks = 4;

}  // namespace

/// The next request that may be granted under this hold, now.
LockQueue::RequestPtr LockQueue::admissible(const NativeHold& hold) {
    auto first = front();
    if (!first || first->options.mode != hold.mode) return nullptr;
    if (hold.mode == LockMode::exclusive && !hold.active.empty()) return nullptr;
    if (hold.uses == 0) return first;
    // A position beside readers may be next while this tab's turn before is not over: no other tab
    // came between.
    const auto position = position_of(*first);
    if (position != positions_.end() && position->entry->is_next()) {
        was_served_before(position->number);
        if (hold.mode == LockMode::shared) return first;
    }
    const bool late = came_late(*first);
    // A request that another tab waits behind comes before that tab, however long that takes.
    if (!contenders_.empty() && !late) return first;
    // The barging window is for requests that were made while the tab had the lock.
    const bool again = first->since_ms >= hold.taken_ms;
    if (must_yield(hold) || (late && !(again && in_barging_window(hold)))) return nullptr;
    return first;
}

bool LockQueue::must_yield(const NativeHold& hold) const {
    const auto age_ms = context_.world.clock().now_ms() - hold.taken_ms;
    return age_ms > slice_ms || age_ms < 0;  // a clock that was set back says nothing
}

/// Whether the hold may go on granting for a moment although another tab waits.
bool LockQueue::in_barging_window(const NativeHold& hold) const {
    if (hold.mode != LockMode::exclusive) return false;
    const auto since_ms = std::max(contended_ms_, hold.taken_ms);
    const auto age_ms = context_.world.clock().now_ms() - since_ms;
    return age_ms >= 0 && age_ms < barging_window_ms && context_.world.locks().available();
}

/// Whether a hold without a holder, which would have to be released, may go on: a caller asks again
/// within the barging window; or the hold is older than slice_ms, and no other tab waits.
Task<bool> LockQueue::may_go_on(std::shared_ptr<NativeHold> hold) {
    const auto over = [&] {
        return hold->lost || context_.suspended || context_.closed || hold->expired;
    };
    if (!contenders_.empty() && !in_barging_window(*hold)) co_return false;
    if (over() || !context_.world.locks().available()) co_return false;
    // A hidden page may, too: it does not wait for anything, and cannot be frozen within a turn.
    if (!contenders_.empty()) {
        const auto steps_left = barging_steps_left_ = std::make_shared<int>(barging_steps);
        context_.scope.spawn(end_barging_window(steps_left));
        while (*steps_left > 0 && !front() && !over() && in_barging_window(*hold))
            co_await await_wake();
        barging_steps_left_.reset();
        co_return !over() && admissible(*hold) != nullptr;
    }
    const auto hidden = [&] { return context_.world.lifecycle().hidden(); };
    const auto first = front();
    if (!first || first->options.mode != hold->mode || !must_yield(*hold) || hidden()) {
        co_return false;
    }
    const auto waiting = co_await native_lock_->query_other_waiters(position_in_turn().has_value());
    if (waiting != OtherWaiters::none || !contenders_.empty() || over() || hidden())
        co_return false;
    hold->taken_ms = context_.world.clock().now_ms();
    co_return true;
}

/// Wakes the driver from time to time while may_go_on() waits, and when a caller has had time to
/// ask again.
Task<void> LockQueue::end_barging_window(std::shared_ptr<int> steps_left) {
    const auto self = weak_from_this();
    while (*steps_left > 0) {
        co_await context_.world.clock().after_microtasks(microtasks_per_step);
        if (self.expired() || barging_steps_left_ != steps_left) co_return;
        --*steps_left;
        wake();
    }
}

/// Whether a hold without a holder must be released.
bool LockQueue::must_release(const NativeHold& hold) {
    return front() || !contenders_.empty() || hold.expired || context_.suspended ||
           context_.closed || context_.world.lifecycle().hidden();
}

Task<bool> LockQueue::reserve_tokens(std::shared_ptr<NativeHold> hold) {
    // Not out of turn: a tab that waits may have tokens already.
    if (hold->tokens.grant.empty()) co_return false;
    hold->block = std::min(hold->block * block_growth, block_max);
    const auto extended = co_await attempt(context_.epochs.extend(key_, hold->tokens, hold->block));
    if (extended) co_return true;
    // Another failure shows when the lock is taken anew.
    if (extended.error().code() == ErrorCode::fenced) lose(hold, "fenced");
    co_return false;
}

/// Announces the grant after the holder has begun: tabs that only watch can wait, and need not be
/// notified of a grant that is over. A tab that holds for longer writes itself into the lock's row,
/// since it may hang before its first commit.
Task<void> LockQueue::announce_grant(std::shared_ptr<NativeHold> hold) {
    const auto self = weak_from_this();
    const auto over = [&] { return self.expired() || hold->lost || context_.suspended; };
    auto& clock = context_.world.clock();
    co_await clock.end_of_turn();
    hold->entry_lock.reset();
    co_await await_pending_releases();
    if (over()) co_return;
    context_.post(LockMessage::Kind::taken, key_);
    const bool fenced = hold->mode == LockMode::exclusive && context_.epochs.fenced() &&
                        !hold->tokens.grant.empty();
    if (!fenced || hold->tokens.recorded) co_return;
    co_await clock.sleep(grace_period_ms);
    if (over() || hold->tokens.recorded) co_return;
    const auto recorded = co_await attempt(context_.epochs.record(key_, hold->tokens));
    if (recorded || recorded.error().code() != ErrorCode::fenced || self.expired()) co_return;
    lose(hold, "fenced");
}

/// Waits until the releases that this turn began are under way.
Task<void> LockQueue::await_pending_releases() {
    co_await context_.world.clock().after_microtasks(releasing_microtasks);
}

/// A shared request beside shared holders of this tab, which may have to wait for a request of
/// another tab that came before it.
bool LockQueue::waits_to_share(const NativeHold& hold) {
    const auto first = front();
    return first && !hold.lost && hold.mode == LockMode::shared &&
           first->options.mode == LockMode::shared;
}

/// Wakes the driver after a while: a tab that gives up or dies in the queue sends nothing.
Task<void> LockQueue::wake_after_slice() {
    const auto self = weak_from_this();
    co_await context_.world.clock().sleep(slice_ms);
    if (self.expired()) co_return;
    wake_pending_ = false;
    wake();
}

// --- maxHold ------------------------------------------------------------------------------------

/// The holder's own clock ends its hold; only one that is frozen or hung must be evicted.
Task<void> LockQueue::limit(std::shared_ptr<Grant> granted, double max_hold_ms) {
    const auto self = weak_from_this();
    const std::shared_ptr<const bool> held(granted, &granted->held);
    if (!co_await outlasts(context_.world, max_hold_ms, held, false)) co_return;
    if (const auto alive = self.lock()) alive->end_hold(granted);
}

void LockQueue::check_max_hold(const std::shared_ptr<Grant>& granted) {
    const bool over = context_.world.clock().monotonic_ms() >= granted->until_ms;
    if (granted->held && over) end_hold(granted);
}

void LockQueue::end_hold(const std::shared_ptr<Grant>& granted) {
    const auto self = shared_from_this();
    context_.on_notice({Notice::Kind::warning, "max-hold",
                        "A lock was held for longer than maxHold, and its holder lost it.", name_,
                        granted->label, 0});
    if (!granted->hold) return;
    if (granted->mode == LockMode::exclusive) {
        // What it still writes is refused at once: the next grant begins a new epoch.
        lose(std::shared_ptr(granted->hold), "max-hold");
    } else {
        granted->loss = "max-hold";
        const auto callbacks = std::exchange(granted->on_lost, {});
        release(*granted);
        for (const auto& callback : callbacks) callback("max-hold");
    }
}

}  // namespace tabacus
