// Requests that do not wait for ever: how `timeout` and `ifAvailable` end them.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// How long a request goes on after its timeout when neither the browser nor the database
/// answers.
constexpr double overtime_ms = 1'000;

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

Task<void> LockQueue::expire(RequestPtr request) {
    const auto self = weak_from_this();
    const std::shared_ptr<const bool> ended(request, &request->ended);
    const auto passed =
        co_await outlasts(context_.world, *request->options.timeout_ms, ended, true);
    if (!passed || self.expired()) co_return;
    if (!request->options.steal) {
        if (!std::exchange(request->options.if_available, true)) {
            request->late = true;
            ++trying_;
            wake();
        }
        co_await await_first_answer(request);
    }
    if (!self.expired()) refuse(request, late_error());
}

/// A timeout may be over before the first answer to the request. The request then asks only whether
/// the lock is available. What was requested of the browser goes on, since the tab's next request
/// may inherit its position in line; this ends when it is known to wait for other tabs. A tab that
/// merely keeps the lock has the time to release it.
Task<void> LockQueue::await_first_answer(RequestPtr request) {
    const auto self = weak_from_this();
    auto& clock = context_.world.clock();
    const auto end_ms = clock.monotonic_ms() + overtime_ms;
    bool once_more = true;
    while (!self.expired() && !request->ended && clock.monotonic_ms() < end_ms) {
        const bool waits =
            front() != request || !acquiring_ || co_await native_lock_->is_known_to_wait();
        if (self.expired() || request->ended) co_return;
        if (!waits) {
            co_await clock.sleep(grace_period_ms);
        } else if (busy_received_ || !std::exchange(once_more, false)) {
            co_return;
        } else {
            co_await sleep_for_answers(context_.world, 2 * grace_period_ms);
        }
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

}  // namespace tabacus
