#include "tabacus/limit/rate_limit.hpp"

#include <algorithm>
#include <cmath>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {
namespace {

/// The time that the first commit is given.
constexpr double slack_first_ms = 8;
/// The least time that a commit is given. An IndexedDB transaction takes about half a millisecond.
constexpr double slack_min_ms = 2;
/// The most time that a commit is given, unless the interval is longer. The bound keeps a tab that
/// hung once from delaying others for longer.
constexpr double slack_max_ms = 2'000;

/// The time that a tab waits for a witness before it asks again.
constexpr double witness_ms = 250;
/// The time that try_take() waits for a witness.
constexpr double try_max_ms = 1000;

std::int64_t wall_of(const Clock& clock) {
    return static_cast<std::int64_t>(
        std::clamp(clock.now_ms(), 0.0, static_cast<double>(value_max)));
}

}  // namespace

RateLimit::RateLimit(RateOwner owner, std::string key, std::int64_t limit, std::int64_t interval_ms)
    : owner_(std::move(owner)),
      key_(std::move(key)),
      limit_(limit),
      interval_ms_(interval_ms),
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
    if (!waits && !time_) scope_.spawn(expire(waiter, try_max_ms));
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
    const auto late = weak.lock();
    if (!late) co_return;
    if (late->waits) {
        end(late, ErrorCode::timed_out, "the rate limit was reached until the timeout");
    } else if (std::erase(waiters_, late) > 0) {
        late->done.complete(false);
    }
}

Task<void> RateLimit::serve() {
    while (!waiters_.empty()) {
        const auto asked = std::min(limit_, static_cast<std::int64_t>(waiters_.size()));
        auto outcome = co_await attempt(round_of(asked));
        if (!outcome) {
            for (const auto& waiter : std::exchange(waiters_, {})) {
                waiter->done.fail(failure_of(outcome.error()));
            }
            break;
        }
        const auto& round = outcome.value();
        if (round.granted > 0 && (round.resets != resets_ || now() > round.deliver_until)) {
            // The grant is too late to be delivered. The next commits are given more time.
            if (round.resets == resets_) allow(slack_ms_ * 2);
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
            if (!time_) co_await learn_time();
            co_return co_await round_once(count);
        },
        true);
}

Task<RateLimit::Round> RateLimit::round_once(std::int64_t count) {
    auto& clock = owner_.world.clock();
    const auto transaction = co_await owner_.store.begin(Access::write);
    const auto began_ms = clock.monotonic_ms();
    const auto found = co_await owner_.store.load(*transaction, key_, parse_rate);
    if (!time_) co_await fail(ErrorCode::store_failed, "the page was frozen or hidden: try again");
    auto row = found.row.value_or(RateRow{});
    take_back(row);
    stamp(row, found.vanished);
    const auto at = row.now;

    // Every grant that was delivered less than interval_ms before `at` is kept, because a grant is
    // never delivered after its `until`.
    std::erase_if(row.grants, [&](const auto& old) { return old.until + interval_ms_ <= at; });
    std::int64_t counted = 0;
    for (const auto& grants : row.grants) counted = std::min(counted + grants.count, value_max);

    Round round;
    round.granted = std::clamp<std::int64_t>(limit_ - counted, 0, count);
    round.resets = resets_;
    round.deliver_until = at + static_cast<std::int64_t>(std::ceil(slack_ms_));
    if (round.granted > 0) record(row, round);
    if (round.granted < count && !row.grants.empty()) {
        round.wait_ms = static_cast<double>(row.grants.front().until + interval_ms_ - at);
    }
    if (round.granted == 0 && !found.vanished) co_return round;
    // If the outcome of this commit is unknown, its grant may be in the row or not, so the tab does
    // not take it back later.
    undelivered_ = {};
    transaction->put(Store::limits, key_, format_rate(row));
    co_await transaction->commit();
    // The grant is found again by its `until`, which identifies it for an interval only.
    if (round.granted > 0 && row.grants.back().until < at + interval_ms_) {
        undelivered_ = {row.grants.back().until, round.granted};
    }
    co_await owner_.store.mark(key_, "1");
    const auto took_ms = clock.monotonic_ms() - began_ms;
    if (round.resets == resets_) allow(std::max(3 * took_ms, slack_ms_ / 2));
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
                           std::max(slack_max_ms, static_cast<double>(interval_ms_)));
}

// --- Time ---------------------------------------------------------------------------------------

std::int64_t RateLimit::now() const {
    return static_cast<std::int64_t>(
        std::floor(owner_.world.clock().monotonic_ms() + time_->low_ms));
}

std::int64_t RateLimit::ahead() const {
    return static_cast<std::int64_t>(std::ceil(time_->high_ms - time_->low_ms)) + 1;
}

void RateLimit::see(std::int64_t at) {
    const auto low_ms = static_cast<double>(at) - owner_.world.clock().monotonic_ms();
    time_->low_ms = std::max(time_->low_ms, low_ms);
    time_->high_ms = std::max(time_->high_ms, time_->low_ms);
}

void RateLimit::stamp(RateRow& row, bool vanished) {
    see(row.now);
    row.serial = row.serial == value_max ? 0 : row.serial + 1;
    row.now = now();
    row.ahead = ahead();
    row.wall = wall_of(owner_.world.clock());
    // If the row vanished, the whole limit may have been granted just now.
    if (vanished) row.grants = {{row.now + row.ahead, limit_}};
}

Task<std::optional<RateRow>> RateLimit::read_row() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    co_return (co_await owner_.store.load(*transaction, key_, parse_rate)).row;
}

Task<void> RateLimit::learn_time() {
    // Without locks, a tab has to ask in order to learn whether there is a witness.
    if (!owner_.world.locks().available() && co_await ask_time()) co_return;
    while (!co_await begin_time() && !co_await ask_time()) {
        // Two tabs that join at once may each have taken the other one for a witness.
        const auto random_ms = static_cast<double>(owner_.world.random().bits() % 50);
        co_await owner_.world.clock().sleep(random_ms);
    }
}

/// Takes the time from the wall clock if there is no witness. Returns false if there is one, or if
/// the page has stopped meanwhile.
Task<bool> RateLimit::begin_time() {
    auto& world = owner_.world;
    const auto resets = resets_;
    if (world.locks().available()) {
        auto alone = co_await world.locks().request({.name = owner_.witness, .if_available = true});
        if (!alone) co_return false;
        // The shared request is queued before the exclusive lock is released, so that no other tab
        // gets the lock in between.
        auto shared = world.locks().request({.name = owner_.witness, .mode = LockMode::shared});
        alone.reset();
        if (!hold(co_await std::move(shared), resets)) co_return false;
    }
    const auto row = co_await read_row();
    if (resets != resets_) co_return false;
    auto at = row ? row->now : 1;
    if (row) at += std::max<std::int64_t>(wall_of(world.clock()) - row->wall, 0);
    const auto offset_ms =
        static_cast<double>(std::min(at, value_max / 2)) - world.clock().monotonic_ms();
    time_ = Time{offset_ms, offset_ms};
    co_return true;
}

/// Asks a witness for the time. Returns false if there is no answer, or if the page has stopped
/// meanwhile. This tab holds the witness lock while it asks, so that no other tab takes the time
/// from its wall clock meanwhile.
Task<bool> RateLimit::ask_time() {
    auto& world = owner_.world;
    const auto resets = resets_;
    if (world.locks().available()) {
        auto held =
            co_await world.locks().request({.name = owner_.witness, .mode = LockMode::shared});
        if (!hold(std::move(held), resets)) co_return false;
    }
    const auto asked_ms = world.clock().monotonic_ms();
    const auto before = co_await read_row();
    news_ = {};
    const auto news = news_;
    owner_.broadcast(true);
    scope_.spawn(complete_after(world.clock(), witness_ms, news));
    co_await news.async();
    const auto row = co_await read_row();
    if (resets != resets_) co_return false;
    if (!row || (before && row->serial <= before->serial)) {
        witness_.reset();
        co_return false;
    }
    // A witness wrote the row after the first reading and before the second.
    const auto written = static_cast<double>(row->now);
    time_ = Time{written - world.clock().monotonic_ms(),
                 written + static_cast<double>(row->ahead) - asked_ms};
    co_return true;
}

/// Keeps the witness lock and returns true. If the page has stopped since the lock was requested,
/// releases the lock and returns false.
bool RateLimit::hold(std::unique_ptr<HeldLock> lock, int resets) {
    if (resets != resets_) return false;
    witness_ = std::move(lock);
    witness_->on_lost([this] { forget_time(); });
    return true;
}

/// Another tab asks for the time.
void RateLimit::asked() {
    if (time_ && !std::exchange(writing_time_, true)) scope_.spawn(write_time());
}

Task<void> RateLimit::write_time() {
    (void)co_await attempt([](RateLimit& self) -> Task<Unit> {
        const auto transaction = co_await self.owner_.store.begin(Access::write);
        const auto found = co_await self.owner_.store.load(*transaction, self.key_, parse_rate);
        if (!self.time_) co_return Unit{};
        auto row = found.row.value_or(RateRow{});
        self.stamp(row, found.vanished);
        transaction->put(Store::limits, self.key_, format_rate(row));
        co_await transaction->commit();
        co_return Unit{};
    }(*this));
    writing_time_ = false;
    owner_.broadcast(false);
}

void RateLimit::changed() { news_.complete({}); }

void RateLimit::forget_time() {
    ++resets_;
    time_.reset();
    witness_.reset();
}

void RateLimit::suspend() { forget_time(); }

void RateLimit::close() {
    forget_time();
    for (const auto& waiter : std::exchange(waiters_, {})) {
        waiter->done.fail(failure_of(Error(ErrorCode::closed, "the tab is closed")));
    }
    wake_signal_.complete({});
}

}  // namespace tabacus
