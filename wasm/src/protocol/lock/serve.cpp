// The tab's native hold, and which of its requests are granted under it.
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
/// How many tokens a waiting tab reserves. A tab that has used them up releases the lock although
/// it is in its barging window. A turn takes longer than as many microseconds (LockEpochs).
constexpr std::int64_t tokens_in_line = 256;

std::int64_t tokens_of(const LockOptions& asked) { return asked.unfenced ? 0 : tokens_in_line; }

}  // namespace

Task<void> sleep_for_answers(World& world, double delay_ms) {
    constexpr int timers = 5;
    for (int i = 0; i < timers; ++i) co_await world.clock().sleep(delay_ms / timers);
}

Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over) {
    auto& clock = world.clock();
    const auto end_ms = clock.monotonic_ms() + delay_ms;
    double left_ms = delay_ms;
    for (double step_ms = slice_ms;; step_ms *= 2) {
        co_await clock.sleep(std::min(left_ms, step_ms));
        if (*flag == over) co_return false;
        if (left_ms <= step_ms) co_return true;
        left_ms = end_ms - clock.monotonic_ms();
    }
}

void LockQueue::start_driver() {
    if (driving_) {
        wake();
    } else if (!context_.suspended && !context_.closed) {
        context_.scope.spawn(drive());
    }
}

Task<void> LockQueue::drive() {
    driving_ = true;
    while (front() && !context_.suspended && !context_.closed) {
        co_await obtain();
        if (hold_) co_await serve(hold_);
    }
    driving_ = false;
}

Task<void> LockQueue::obtain() {
    const auto first = front();
    const auto& asked = first->options;
    acquiring_ = true;
    acquiring_mode_ = asked.mode;
    const auto position = pop_position(*first);
    acquiring_position_ = position.number;
    // If the position was taken ahead, all tabs behind it know of it already.
    if (!position.entry) announce_request(*first, acquiring_position_);
    // A later request of this tab whose position this is takes a new one, and so do those behind.
    if (position.owner != first->id && contenders_.empty()) release_positions();
    take_positions_behind(*first);
    const NativeRequest native{
        .mode = asked.mode,
        .if_available = asked.if_available,
        .claim = {.label = asked.label,
                  .max_hold_ms = static_cast<std::int64_t>(asked.max_hold_ms.value_or(0)),
                  .tokens = context_.world.locks().available() ? tokens_of(asked) : 1},
        .entry = position.entry};
    if (!watching_ && !asked.if_available) context_.scope.spawn(watch());
    auto outcome = co_await attempt(asked.if_available ? acquire_if_available(native)
                                                       : native_lock_->acquire(native));
    const auto taken = outcome ? std::move(outcome.value()) : nullptr;
    acquiring_ = false;
    busy_received_ = false;
    if (taken && (taken->lost || context_.suspended || context_.closed)) {
        native_lock_->release(taken);
        co_return;
    }
    if (taken) {
        was_served_before(acquiring_position_);
        hold_ = taken;
        adopt(taken);
    } else if (!outcome) {
        settle(first, outcome.error());
    } else if (asked.if_available) {
        settle(first, std::nullopt);
    }
}

/// A lock that another tab merely keeps is available: that tab releases it when it receives our
/// request. Its message that it did may overtake the release itself, which takes another way. So
/// this asks again after every message of a release, and once more when no answer can come any
/// more.
Task<std::shared_ptr<NativeHold>> LockQueue::acquire_if_available(NativeRequest request) {
    const auto over = std::make_shared<bool>(false);
    bool limited = false;
    while (true) {
        const Completer<Unit> answered;
        answer_signal_ = answered;  // also for what comes while this asks
        const bool last = *over;
        auto taken = co_await native_lock_->acquire(request);
        if (taken || last || busy_received_ || !context_.channel) co_return taken;
        if (!std::exchange(limited, true)) context_.scope.spawn(end_answers(over));
        refused_ = true;
        co_await answered.async();
        refused_ = false;
        if (busy_received_) co_return nullptr;
    }
}

Task<void> LockQueue::end_answers(std::shared_ptr<bool> over) {
    const auto self = weak_from_this();
    co_await sleep_for_answers(context_.world, 2 * grace_period_ms);
    *over = true;
    if (!self.expired()) answer_signal_.complete({});
}

void LockQueue::adopt(const std::shared_ptr<NativeHold>& hold) {
    hold->taken_ms = context_.world.clock().now_ms();
    hold->on_lost = [weak = weak_from_this(), of = std::weak_ptr(hold)](std::string_view reason) {
        const auto queue = weak.lock();
        const auto lost = of.lock();
        if (queue && lost) queue->lose(lost, reason);
    };
    changed();
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

Task<void> LockQueue::serve(std::shared_ptr<NativeHold> hold) {
    if (!admissible(*hold)) hold->entry_lock.reset();  // the caller that asked has gone
    while (!hold->lost) {
        if (const auto request = admissible(*hold)) {
            const bool spent = hold->mode == LockMode::exclusive && !request->options.unfenced &&
                               hold->tokens.empty();
            if (!spent) {
                request->grant = grant(request->options, hold);
                settle(request, std::nullopt);
                if (hold->uses == 1) {
                    context_.scope.spawn(announce_grant(hold));
                } else if (!contenders_.empty() && request->options.max_hold_ms) {
                    // Without this, no tab would see that something moves, and they would take this
                    // tab for a hung one.
                    context_.post(LockMessage::Kind::taken, key_);
                }
            } else if (came_late(*request) || !co_await reserve_tokens(hold)) {
                break;
            }
            continue;
        }
        if (hold->active.empty()) {
            if (must_release(*hold)) {
                if (co_await may_go_on(hold)) continue;
                break;
            }
            if (!std::exchange(hold->timing, true)) context_.scope.spawn(run_grace_timer(hold));
        } else if (waits_to_share(*hold) && co_await forget_contenders()) {
            if (contenders_.empty()) hold->taken_ms = context_.world.clock().now_ms();
            continue;
        } else {
            refuse_unavailable();
            if (waits_to_share(*hold) && !std::exchange(wake_pending_, true)) {
                context_.scope.spawn(wake_after_slice());
            }
        }
        co_await await_wake();
    }
    if (hold_ == hold) hold_.reset();
    if (!hold->lost) release_hold(hold);
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

/// Refuses the `ifAvailable` requests that were not granted beside the holders of this tab.
void LockQueue::refuse_unavailable() {
    if (trying_ == 0) return;
    const auto requests = waiting_;
    for (const auto& request : requests) {
        if (request->options.if_available) settle(request, std::nullopt);
    }
}

/// Refuses an `ifAvailable` request that is behind a request which waits for another tab: one that
/// need not wait would have been granted by then.
Task<void> LockQueue::give_up(RequestPtr request) {
    const auto self = weak_from_this();
    co_await sleep_for_answers(context_.world, 2 * grace_period_ms);
    if (!self.expired() && front() != request) settle(request, std::nullopt);
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

std::shared_ptr<Grant> LockQueue::grant(const LockOptions& options,
                                        const std::shared_ptr<NativeHold>& hold) {
    auto granted = std::make_shared<Grant>();
    granted->queue = weak_from_this();
    granted->hold = hold;
    granted->within = options.within;
    granted->id = ++context_.last_id;
    granted->mode = hold->mode;
    granted->label = options.label;
    granted->since_ms = context_.stamp_ms();
    const bool fenced = hold->mode == LockMode::exclusive && !options.unfenced;
    if (fenced) granted->token = hold->tokens.next++;
    hold->active.push_back(granted);
    ++hold->uses;
    if (options.max_hold_ms) {
        granted->until_ms = context_.world.clock().monotonic_ms() + *options.max_hold_ms;
        context_.scope.spawn(limit(granted, *options.max_hold_ms));
    }
    return granted;
}

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

void LockQueue::release_hold(const std::shared_ptr<NativeHold>& hold) {
    hold->lost = true;
    native_lock_->release(hold);
    std::erase(stolen_, hold);
    announce();
}

/// Waits until the releases that this turn began are under way.
Task<void> LockQueue::await_pending_releases() {
    co_await context_.world.clock().after_microtasks(releasing_microtasks);
}

/// Wakes the driver when nothing was granted for grace_period_ms.
Task<void> LockQueue::run_grace_timer(std::shared_ptr<NativeHold> hold) {
    const auto self = weak_from_this();
    while (true) {
        const auto uses = hold->uses;
        co_await context_.world.clock().sleep(grace_period_ms);
        if (self.expired() || hold->lost) co_return;
        if (!hold->active.empty()) break;
        if (hold->uses != uses) continue;
        hold->expired = true;
        wake();
        break;
    }
    hold->timing = false;
}

// --- Waking the driver --------------------------------------------------------------------------

void LockQueue::wake() {
    woken_ = true;
    const auto signal = std::exchange(wake_signal_, {});
    signal.complete({});
}

Task<void> LockQueue::await_wake() {
    if (!woken_) {
        const auto signal = wake_signal_;
        co_await signal.async();
    }
    woken_ = false;
}

}  // namespace tabacus
