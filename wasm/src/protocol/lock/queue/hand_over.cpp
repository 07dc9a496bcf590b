#include "hand_over.hpp"

#include <utility>

#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// The barging window in steps, and the microtasks of a step. Together they are twice as many as
/// the microtasks between the end of one run() of js/lock/lock.js and the next. After each step the
/// time is checked.
constexpr int barging_steps = 3;
constexpr int microtasks_per_step = 8;

}  // namespace

AcquireRequestPtr HandOver::admissible(const NativeHold& hold) {
    auto first = requests_.front();
    if (!first || first->options.mode != hold.mode) return nullptr;
    if (hold.mode == LockMode::exclusive && !hold.active.empty()) return nullptr;
    const bool yields = must_yield(hold);  // reads the clock, also for the grant
    if (hold.uses == 0) return first;
    // If a position of a reader is next in line while this tab still holds the lock as a reader, no
    // other tab came between the two.
    const auto* position = order_.position_of(*first);
    if (position && position->entry->is_next()) {
        contenders_.forget_before(position->number);
        if (hold.mode == LockMode::shared) return first;
    } else if (position && !position->entry->over) {
        return nullptr;  // another tab may have come before it
    }
    // All other tabs are behind this tab's next position, and so behind a request before it.
    const auto* next = order_.next_position();
    if (next && first->id < next->owner) return first;
    const bool behind = contenders_.came_before(*first);
    // A request that came before all contenders is granted before them, however long that takes.
    if (!contenders_.empty() && !behind) return first;
    if (yields) return nullptr;
    // The barging window is for requests that were made while the tab had the lock.
    const bool again = first->since_ms >= hold.taken_ms;
    if (behind && !again) return nullptr;
    // Other tabs may wait although no announcement was received: messages are queued behind the
    // tasks of callers.
    const bool contended = behind || (again && hold.tokens.contended);
    if (contended && !in_barging_window(hold)) return nullptr;
    return first;
}

bool HandOver::must_yield(const NativeHold& hold) const {
    const auto age_ms = lock_.context.stamps.read_ms(lock_.clock()) - hold.taken_ms;
    return age_ms > slice_ms || age_ms < 0;  // negative: the clock was set back
}

/// Whether the hold may go on granting for a moment although another tab waits.
bool HandOver::in_barging_window(const NativeHold& hold) const {
    if (hold.mode != LockMode::exclusive || hold.uses >= barging_grants_max) return false;
    const auto age_ms = lock_.clock().now_ms() - hold.taken_ms;
    return age_ms >= 0 && age_ms < barging_window_ms && lock_.has_web_locks();
}

Task<bool> HandOver::may_go_on(std::shared_ptr<NativeHold> hold) {
    const auto over = [&] { return hold->lost || lock_.context.state.stopped() || hold->expired; };
    if (!contenders_.empty() && !in_barging_window(*hold)) co_return false;
    if (over() || !lock_.has_web_locks()) co_return false;
    // A hidden page may also go on in its barging window: the window lasts microtasks only, and a
    // page cannot be frozen within a turn.
    if (!contenders_.empty()) {
        const auto steps_left = barging_steps_left_ = std::make_shared<int>(barging_steps);
        lock_.spawn(end_barging_window(steps_left));
        while (*steps_left > 0 && !requests_.front() && !over() && in_barging_window(*hold))
            co_await lock_.wake.wait();
        barging_steps_left_.reset();
        co_return !over() && admissible(*hold) != nullptr;
    }
    const auto hidden = [&] { return lock_.context.world.lifecycle().hidden(); };
    const auto first = requests_.front();
    if (!first || first->options.mode != hold->mode || !must_yield(*hold) || hidden()) {
        co_return false;
    }
    const bool is_next = order_.next_position() != nullptr;
    const auto waiting = co_await lock_.native->query_other_waiters(is_next);
    if (waiting || !contenders_.empty() || over() || hidden()) co_return false;
    hold->taken_ms = lock_.clock().now_ms();
    co_return true;
}

/// Wakes the driver from time to time while may_go_on() waits, and when a caller has had time to
/// ask again.
Task<void> HandOver::end_barging_window(std::shared_ptr<int> steps_left) {
    while (*steps_left > 0) {
        co_await lock_.clock().after_microtasks(microtasks_per_step);
        if (barging_steps_left_ != steps_left) co_return;
        --*steps_left;
        lock_.wake.set();
    }
}

bool HandOver::must_release(const NativeHold& hold) {
    return requests_.front() || !contenders_.empty() || hold.expired ||
           lock_.context.state.stopped() || lock_.context.world.lifecycle().hidden();
}

bool HandOver::waits_to_share(const NativeHold& hold) {
    const auto first = requests_.front();
    return first && !hold.lost && hold.mode == LockMode::shared &&
           first->options.mode == LockMode::shared;
}

// --- Timers -------------------------------------------------------------------------------------

void HandOver::start_grace_timer(const std::shared_ptr<NativeHold>& hold) {
    if (!std::exchange(hold->timing, true)) lock_.spawn(run_grace_timer(hold));
}

/// The period begins again with each grant.
Task<void> HandOver::run_grace_timer(std::shared_ptr<NativeHold> hold) {
    while (true) {
        const auto uses = hold->uses;
        co_await lock_.clock().sleep(grace_period_ms);
        if (hold->lost) co_return;
        if (!hold->active.empty()) break;
        if (hold->uses != uses) continue;
        hold->expired = true;
        lock_.wake.set();
        break;
    }
    hold->timing = false;
}

void HandOver::start_slice_timer() {
    if (!std::exchange(slice_timing_, true)) lock_.spawn(wake_after_slice());
}

Task<void> HandOver::wake_after_slice() {
    co_await lock_.clock().sleep(slice_ms);
    slice_timing_ = false;
    lock_.wake.set();
}

}  // namespace tabacus
