#include "request_expiry.hpp"

#include <utility>

#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// How long a request goes on after its timeout, or an `ifAvailable` request goes on, when neither
/// the browser nor the database answers.
constexpr double overtime_ms = 1'000;

}  // namespace

Task<void> RequestExpiry::expire(AcquireRequestPtr request) {
    const std::shared_ptr<const bool> ended(request, &request->ended);
    const auto passed =
        co_await outlasts(lock_.context.world, *request->options.timeout_ms, ended, true);
    if (!passed) co_return;
    if (!request->options.steal) {
        if (!std::exchange(request->options.if_available, true)) {
            request->expired = true;
            requests_.add_try();
            lock_.wake.set();
        }
        co_await await_first_answer(request);
    }
    driver_.refuse(request, timeout_error());
}

/// Returns once a request whose timeout is over has ended, or is known to wait for another tab.
/// The timeout may be over before the browser or the database has answered. Then the request is
/// granted the lock only if it is available. Its native request goes on, since the tab's next
/// request may inherit the position in line. A tab that merely keeps the lock in its grace period
/// gets the time to release it.
Task<void> RequestExpiry::await_first_answer(AcquireRequestPtr request) {
    auto& clock = lock_.clock();
    const auto end_ms = clock.monotonic_ms() + overtime_ms;
    bool once_more = true;
    while (!request->ended && clock.monotonic_ms() < end_ms) {
        const bool waits = requests_.front() != request || !holds_.acquiring() ||
                           co_await lock_.native->is_known_to_wait();
        if (request->ended) co_return;
        if (!waits) {
            co_await clock.sleep(grace_period_ms);
        } else if (availability_.busy() || !std::exchange(once_more, false)) {
            co_return;
        } else {
            co_await sleep_for_answers(lock_.context.world, 2 * grace_period_ms);
        }
    }
}

Task<void> RequestExpiry::give_up(AcquireRequestPtr request) {
    co_await sleep_for_answers(lock_.context.world, 2 * grace_period_ms);
    // A page that is not shown yet is granted nothing, and a browser may not answer for long.
    const std::shared_ptr<const bool> ended(request, &request->ended);
    if (requests_.front() != request || lock_.context.state.suspended() ||
        co_await outlasts(lock_.context.world, overtime_ms, ended, true)) {
        driver_.settle(request, std::nullopt);
    }
}

}  // namespace tabacus
