#include "tabacus/limit/rate_limit.hpp"

#include <algorithm>
#include <cmath>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {
namespace {

/// How long after it was recorded a grant of the first commit may be delivered (slack_ms_).
constexpr double slack_first_ms = 8;
/// The least slack. An IndexedDB transaction takes about half a millisecond.
constexpr double slack_min_ms = 2;
/// The most slack, unless the interval is longer. The bound keeps a tab that hung once from
/// delaying others for longer.
constexpr double slack_max_ms = 2'000;

/// The time that try_take() waits for a witness.
constexpr double try_max_ms = 1000;

}  // namespace

RateLimit::RateLimit(RateOwner owner, std::string key, std::int64_t limit, std::int64_t interval_ms)
    : owner_(std::move(owner)),
      key_(std::move(key)),
      policy_{limit, interval_ms},
      witness_(owner_, key_, policy_),
      slack_ms_(std::min(slack_first_ms, static_cast<double>(interval_ms))) {}

// --- Waiting ------------------------------------------------------------------------------------

Task<void> RateLimit::take(std::optional<AbortSignal> signal, std::optional<double> timeout_ms) {
    (void)co_await wait(true, std::move(signal), timeout_ms);
}

Task<bool> RateLimit::try_take() {
    // Other calls wait because the limit is reached, and this one would queue behind them.
    if (pausing_ && !waiters_.empty()) co_return false;
    co_return co_await wait(false, std::nullopt, std::nullopt);
}

Task<bool> RateLimit::wait(bool waits, std::optional<AbortSignal> signal,
                           std::optional<double> timeout_ms) {
    if (signal && signal->aborted())
        co_await fail(ErrorCode::aborted, "the signal is already aborted");
    const auto waiter = std::make_shared<Waiter>();
    waiter->waits = waits;
    waiters_.push_back(waiter);
    if (signal) {
        signal->on_abort([this, weak = std::weak_ptr(waiter)] {
            if (const auto aborted = weak.lock())
                end(aborted, ErrorCode::aborted, "the signal aborted the call");
        });
    }
    if (timeout_ms) scope_.spawn(expire(waiter, *timeout_ms));
    if (!waits && !witness_.clock().known()) scope_.spawn(expire(waiter, try_max_ms));
    if (!std::exchange(serving_, true)) {
        scope_.spawn(serve());
    } else if (!waits) {
        wake_signal_.complete({});
    }
    co_return co_await waiter->done.async();
}

void RateLimit::end(const WaiterPtr& waiter, ErrorCode code, const char* message) {
    if (std::erase(waiters_, waiter) > 0) waiter->done.fail(failure_of(Error(code, message)));
}

Task<void> RateLimit::expire(WaiterPtr waiter, double timeout_ms) {
    const std::weak_ptr<Waiter> weak = std::exchange(waiter, nullptr);
    co_await owner_.world.clock().sleep(timeout_ms);
    const auto waiting = weak.lock();
    if (!waiting) co_return;
    if (waiting->waits) {
        end(waiting, ErrorCode::timed_out, "the rate limit was reached until the timeout");
    } else if (std::erase(waiters_, waiting) > 0) {
        waiting->done.complete(false);
    }
}

Task<void> RateLimit::serve() {
    while (!waiters_.empty()) {
        const auto asked = std::min(policy_.limit, static_cast<std::int64_t>(waiters_.size()));
        auto outcome = co_await attempt(round_of(asked));
        if (!outcome) {
            if (outcome.error().code() == ErrorCode::version_mismatch) witness_.forget();
            for (const auto& waiter : std::exchange(waiters_, {})) {
                waiter->done.fail(failure_of(outcome.error()));
            }
            break;
        }
        const auto& round = outcome.value();
        const auto& clock = witness_.clock();
        const bool forgotten = round.resets != clock.resets();
        if (round.granted > 0 && (forgotten || clock.now() > round.deliver_until)) {
            // The grant is too late to be delivered. Grants of the next commits get more slack.
            if (!forgotten) allow(slack_ms_ * 2);
            continue;
        }
        for (auto left = round.granted; left > 0 && !waiters_.empty(); --left) {
            const auto waiter = waiters_.front();
            waiters_.pop_front();
            if (undelivered_.count > 0) --undelivered_.count;
            waiter->done.complete(true);
        }
        if (round.granted == asked) continue;
        refuse_tries();
        if (!waiters_.empty()) co_await pause(round.wait_ms);
    }
    serving_ = false;
}

void RateLimit::refuse_tries() {
    std::list<WaiterPtr> tries;
    for (const auto& waiter : waiters_) {
        if (!waiter->waits) tries.push_back(waiter);
    }
    std::erase_if(waiters_, [](const WaiterPtr& waiter) { return !waiter->waits; });
    for (const auto& waiter : tries) waiter->done.complete(false);
}

Task<void> RateLimit::pause(double delay_ms) {
    wake_signal_ = {};
    const auto signal = wake_signal_;
    pausing_ = true;
    scope_.spawn(complete_after(owner_.world.clock(), delay_ms, signal));
    co_await signal.async();
    pausing_ = false;
}

// --- Granting -----------------------------------------------------------------------------------

Task<RateLimit::Round> RateLimit::round_of(std::int64_t count) {
    return owner_.store.persist<Round>(
        "",  // the witnesses know whether there was a row
        [this, count]() -> Task<Round> {
            if (!witness_.clock().known()) co_await witness_.learn_time();
            co_return co_await round_once(count);
        },
        true);
}

Task<RateLimit::Round> RateLimit::round_once(std::int64_t count) {
    auto& clock = owner_.world.clock();
    const auto transaction = co_await owner_.store.begin(Access::write);
    const auto began_ms = clock.monotonic_ms();
    const auto found = co_await owner_.store.load(*transaction, key_, parse_rate);
    if (!witness_.clock().known()) {
        co_await fail(ErrorCode::store_failed, "the page was frozen or hidden: try again");
    }
    auto row = found.row.value_or(RateRow{});
    take_back(row);
    witness_.stamp(row, found.vanished);
    const auto at = row.now;

    // Every grant that was delivered less than interval_ms before `at` is kept, because a grant is
    // never delivered after its `until`.
    std::erase_if(row.grants,
                  [&](const auto& old) { return old.until + policy_.interval_ms <= at; });
    std::int64_t counted = 0;
    for (const auto& grants : row.grants) counted = std::min(counted + grants.count, value_max);

    Round round;
    round.granted = std::clamp<std::int64_t>(policy_.limit - counted, 0, count);
    round.resets = witness_.clock().resets();
    round.deliver_until = at + static_cast<std::int64_t>(std::ceil(slack_ms_));
    if (round.granted > 0) record(row, round);
    if (round.granted < count && !row.grants.empty()) {
        round.wait_ms = static_cast<double>(row.grants.front().until + policy_.interval_ms - at);
    }
    if (round.granted == 0 && !found.vanished) co_return round;
    // If the outcome of this commit is unknown, its grant may be in the row or not, so the tab does
    // not take it back later.
    undelivered_ = {};
    transaction->put(Store::limits, key_, format_rate(row));
    co_await transaction->commit();
    // The grant is found again by its `until`, which identifies it for an interval only.
    if (round.granted > 0 && row.grants.back().until < at + policy_.interval_ms) {
        undelivered_ = {row.grants.back().until, round.granted};
    }
    co_await owner_.store.mark(key_, "1");
    const auto took_ms = clock.monotonic_ms() - began_ms;
    if (round.resets == witness_.clock().resets()) allow(std::max(3 * took_ms, slack_ms_ / 2));
    co_return round;
}

/// Records a grant in the row.
void RateLimit::record(RateRow& row, const Round& round) {
    auto& grants = row.grants;
    auto until = round.deliver_until + row.ahead;
    if (!grants.empty()) until = std::max(until, grants.back().until);
    grants.push_back({until, round.granted});
    // Merging keeps the later `until`, which is the stricter one.
    while (grants.size() > rate_grants_max) {
        grants[1].count += grants[0].count;
        grants.erase(grants.begin());
    }
}

/// Takes the grants of this tab out of the row that were recorded and not delivered, and will not
/// be delivered.
void RateLimit::take_back(RateRow& row) const {
    const auto own = std::ranges::find_if(row.grants, [this](const auto& grants) {
        return grants.until == undelivered_.until && grants.count >= undelivered_.count;
    });
    if (own == row.grants.end()) return;
    own->count -= undelivered_.count;
    if (own->count == 0) row.grants.erase(own);
}

void RateLimit::allow(double slack_ms) {
    slack_ms_ = std::clamp(slack_ms, slack_min_ms,
                           std::max(slack_max_ms, static_cast<double>(policy_.interval_ms)));
}

void RateLimit::close() {
    witness_.forget();
    for (const auto& waiter : std::exchange(waiters_, {})) {
        waiter->done.fail(failure_of(Error(ErrorCode::closed, "the tab is closed")));
    }
    wake_signal_.complete({});
}

}  // namespace tabacus
