#include "tabacus/limit/budget.hpp"

#include <algorithm>
#include <utility>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {

Budget::Budget(BudgetOwner owner, std::string key, std::int64_t limit)
    : owner_(std::move(owner)), key_(std::move(key)), limit_(limit) {}

std::string Budget::own_key() const { return concat({key_, "/", owner_.tab}); }

std::int64_t Budget::available() const {
    return std::clamp<std::int64_t>(limit_ - used_ + left_, 0, limit_);
}

// --- Taking -------------------------------------------------------------------------------------

Task<bool> Budget::take(std::int64_t n) {
    if (take_now(n)) co_return true;
    if (n > limit_) co_return false;
    Waiter waiter{n, {}};
    const auto done = waiter.done;
    waiters_.push_back(std::move(waiter));
    start();
    co_return co_await done.async();
}

void Budget::start() {
    if (!std::exchange(serving_, true)) scope_.spawn(serve());
}

/// Does one thing at a time. Recalled rights are put back first; then calls are served in their
/// order.
Task<void> Budget::serve() {
    for (;;) {
        grant();
        if (std::exchange(wanted_back_, false) && (left_ > 0 || row_)) {
            co_await put_back();
        } else if (!waiters_.empty()) {
            co_await take_out();
        } else {
            break;
        }
    }
    serving_ = false;
    schedule_close();
    for (const auto& settler : std::exchange(settlers_, {})) settler.complete({});
}

void Budget::grant() {
    while (!waiters_.empty() && waiters_.front().n <= left_) {
        const auto waiter = waiters_.front();
        waiters_.pop_front();
        left_ -= waiter.n;
        spent_ += waiter.n;
        ++takes_;
        short_since_ms_.reset();
        waiter.done.complete(true);
    }
}

void Budget::refuse() {
    const auto waiter = waiters_.front();
    waiters_.pop_front();
    short_since_ms_.reset();
    waiter.done.complete(false);
}

Task<void> Budget::take_out() {
    auto taken = co_await attempt(owner_.store.persist<Round>(
        key_,
        [this]() -> Task<Round> {
            co_await owner_.hold_liveness();
            co_return co_await take_out_once();
        },
        true));
    if (!taken) {
        for (const auto& waiter : std::exchange(waiters_, {})) {
            waiter.done.fail(failure_of(taken.error()));
        }
        co_return;
    }
    auto round = taken.value();
    if (!round.short_of) co_return;
    const auto now_ms = owner_.world.clock().monotonic_ms();
    if (!short_since_ms_) short_since_ms_ = now_ms;
    if (round.holders.empty()) co_return refuse();
    if (now_ms - *short_since_ms_ >= recall_ms) {
        silent_.merge(round.holders);
        co_return refuse();
    }
    co_await recall(std::move(round));
}

std::int64_t Budget::window() const {
    return takes_ < exact_takes ? 0 : std::min(spent_ / 4, limit_ / 16);
}

Task<std::int64_t> Budget::read_used(Transaction& transaction) {
    const auto found = co_await owner_.store.load(transaction, key_, parse_budget);
    worst_ = !found.row && found.vanished;
    // If the row vanished, everything may have been spent.
    co_return found.row ? found.row->used : worst_ ? limit_ : 0;
}

Task<Budget::Round> Budget::take_out_once() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    co_await resolve_unknown(*transaction);
    auto used = co_await read_used(*transaction);
    if (waiters_.empty()) co_return Round{};
    const auto least = waiters_.front().n - left_;
    if (least <= 0) co_return Round{};
    const auto before = used;
    if (given_up_) {
        // This transaction overwrites the tab's row, so it puts back the rights that the row gives
        // up.
        const auto stored = co_await transaction->get(Store::limits, own_key());
        const auto row = stored ? parse_holding(stored->value) : std::nullopt;
        if (row && row->state == HoldingRow::State::given) used -= std::min(used, row->amount);
    }
    Round round;
    if (limit_ - used < least) {
        used = before;
        round = co_await collect(*transaction, used);
        if (limit_ - used < least) {
            round.short_of = true;
            if (used != before || worst_) {
                co_await commit(*transaction, used, {row_, row_, 0, 0});
            }
            used_ = used;
            co_return round;
        }
        round = {};
    }
    const auto free = limit_ - used;
    auto amount = least;
    for (auto next = std::next(waiters_.begin()); next != waiters_.end(); ++next) {
        if (next->n > free - amount) break;
        amount += next->n;
    }
    amount += std::min(window(), (free - amount) / 4);
    const auto serial = ++serial_;
    transaction->put(Store::limits, own_key(),
                     format_holding({HoldingRow::State::open, left_ + amount, serial}));
    co_await commit(*transaction, used + amount, {row_, serial, amount, 0});
    left_ += amount;
    row_ = serial;
    given_up_ = false;
    co_return round;
}

/// Writes how much is used, and commits. resolve_unknown() later resolves an unknown outcome.
Task<void> Budget::commit(Transaction& transaction, std::int64_t used, UnknownCommit unknown) {
    transaction.put(Store::limits, key_, format_budget({used}));
    const auto committed = co_await attempt(transaction.commit());
    if (!committed) {
        if (committed.error().code() == ErrorCode::unknown_commit) unknown_ = unknown;
        co_await fail(committed.error());
    }
    used_ = used;
    co_await owner_.store.mark(key_, "1");
    owner_.broadcast(false, used);
}

/// Finds out whether a commit with an unknown outcome happened. Rights belong to this tab only if
/// its own row proves it. No other tab writes that row, but another tab may have removed it, and
/// this tab may have given the rights up since.
Task<void> Budget::resolve_unknown(Transaction& transaction) {
    if (!unknown_) co_return;
    const auto stored = co_await transaction.get(Store::limits, own_key());
    const auto unknown = std::exchange(unknown_, std::nullopt);
    const auto row = stored ? parse_holding(stored->value) : std::nullopt;
    const auto serial =
        row && row->state == HoldingRow::State::open ? std::optional(row->serial) : std::nullopt;
    row_ = serial;
    if (!serial || unknown->before == unknown->after) co_return;
    if (serial == unknown->after) left_ += unknown->if_done;
    if (serial == unknown->before) left_ += unknown->if_not;
}

/// Puts back what other tabs have given up. Returns the tabs that hold rights if they hold enough
/// for the first call that waits.
Task<Budget::Round> Budget::collect(Transaction& transaction, std::int64_t& used) {
    const auto prefix = concat({key_, "/"});
    std::int64_t held = 0;
    Round round;
    for (const auto& row : co_await transaction.list(Store::limits, prefix)) {
        const auto tab = row.key.substr(prefix.size());
        const auto holding = parse_holding(row.value);
        if (!holding) {
            // The rights that the row held stay used.
            owner_.store.quarantine(transaction, row);
            transaction.remove(Store::limits, row.key);
        } else if (holding->state == HoldingRow::State::given) {
            used -= std::min(used, holding->amount);
            transaction.remove(Store::limits, row.key);
        } else if (tab != owner_.tab && !silent_.contains(tab)) {
            held = std::min(held + holding->amount, value_max);
            round.holders.insert(tab);
        }
    }
    const auto least = waiters_.empty() ? 0 : waiters_.front().n - left_;
    if (limit_ - used + held < least) round.holders.clear();
    co_return round;
}

// --- Recalling ----------------------------------------------------------------------------------

/// Asks the tabs that hold rights to put them back, and waits for a quarter of recall_ms or until
/// one has done so.
Task<void> Budget::recall(Round round) {
    auto live_tabs = co_await attempt(owner_.live_tabs());
    if (live_tabs && live_tabs.value()) {
        std::set<std::string> dead;
        for (const auto& holder : round.holders) {
            if (!live_tabs.value()->contains(holder)) dead.insert(holder);
        }
        if (!dead.empty()) {
            (void)co_await attempt(sweep(dead));
            if (dead.size() == round.holders.size()) {
                // If the rows are still there, because sweep() failed, they are ignored from here
                // on.
                silent_.merge(dead);
                co_return;
            }
        }
    }
    constexpr double recheck_ms = recall_ms / 4;
    wake_signal_ = {};
    const auto signal = wake_signal_;
    owner_.broadcast(true, 0);
    scope_.spawn(complete_after(owner_.world.clock(), recheck_ms, signal));
    co_await signal.async();
}

/// Removes the rows of dead tabs. The rights that they held stay used, because no tab can know
/// whether they were spent.
Task<void> Budget::sweep(std::set<std::string> dead) {
    const auto transaction = co_await owner_.store.begin(Access::write);
    for (const auto& tab : dead) {
        const auto key = concat({key_, "/", tab});
        const auto stored = co_await transaction->get(Store::limits, key);
        const auto row = stored ? parse_holding(stored->value) : std::nullopt;
        if (row && row->state == HoldingRow::State::open) transaction->remove(Store::limits, key);
    }
    co_await transaction->commit();
}

/// A tab that has spent all its rights answers, too, because its row still records some.
void Budget::recalled() {
    wanted_back_ = true;
    start();
}

void Budget::hand_back() {
    if (left_ > 0) recalled();
}

void Budget::changed(std::int64_t used) {
    used_ = std::min(used, limit_);
    wake_signal_.complete({});
}

// --- Putting back -------------------------------------------------------------------------------

Task<void> Budget::put_back() {
    (void)co_await attempt(
        owner_.store.persist<Unit>(key_, [this] { return put_back_once(); }, false));
    // If this fails, the end of the next burst or the next recall tries again.
}

Task<Unit> Budget::put_back_once() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    co_await resolve_unknown(*transaction);
    const auto used = co_await read_used(*transaction);
    // From here on this tab cannot spend the rights.
    const auto amount = std::exchange(left_, 0);
    if (amount == 0 && !row_) co_return Unit{};
    transaction->remove(Store::limits, own_key());
    const auto outcome = co_await attempt(
        commit(*transaction, used - std::min(used, amount), {row_, std::nullopt, 0, amount}));
    if (!outcome) {
        if (outcome.error().code() != ErrorCode::unknown_commit) left_ += amount;
        co_await fail(outcome.error());
    }
    row_.reset();
    co_return Unit{};
}

void Budget::schedule_close() {
    if (takes_ == 0 || std::exchange(closing_, true)) return;
    scope_.spawn(close_window());
}

/// Waits until pause_ms pass without a call, then puts back what is left of the window.
Task<void> Budget::close_window() {
    for (auto seen = takes_ - 1; seen != takes_;) {
        seen = takes_;
        if (owner_.world.lifecycle().hidden()) {
            // A transaction takes the place of the timer, because a hidden page's timers may run
            // only once a minute.
            (void)co_await attempt(refresh());
        } else {
            co_await owner_.world.clock().sleep(pause_ms);
        }
    }
    closing_ = false;
    takes_ = 0;
    spent_ = 0;
    hand_back();
}

Task<void> Budget::settle() {
    hand_back();
    if (!serving_) co_return;
    const Completer<Unit> settled;
    settlers_.push_back(settled);
    co_await settled.async();
}

Task<void> Budget::give(std::int64_t n) {
    co_await owner_.store.persist<Unit>(
        key_,
        [this, n]() -> Task<Unit> {
            const auto transaction = co_await owner_.store.begin(Access::write);
            const auto used = co_await read_used(*transaction);
            if (n > used - left_) {
                co_await fail(ErrorCode::out_of_range, "cannot put back more than was taken");
            }
            transaction->put(Store::limits, key_, format_budget({used - n}));
            co_await transaction->commit();
            used_ = used - n;
            co_await owner_.store.mark(key_, "1");
            owner_.broadcast(false, used_);
            co_return Unit{};
        },
        false);
}

Task<void> Budget::refresh() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    const auto before = co_await read_used(*transaction);
    auto used = before;
    co_await collect(*transaction, used);
    if (used == before && !worst_) {
        used_ = used;
    } else {
        co_await commit(*transaction, used, {row_, row_, 0, 0});
    }
}

// --- The page's lifecycle -----------------------------------------------------------------------

/// Records in this tab's row that its rights are given up, and forgets them, so that any tab may
/// put them back. Does not wait for a read, because no callback may run before the page stops.
void Budget::suspend() {
    if (!owner_.store.durable()) return;
    if (const auto amount = std::exchange(left_, 0); amount > 0) scope_.spawn(give_up(amount));
}

Task<void> Budget::give_up(std::int64_t amount) {
    given_up_ = true;
    auto given = co_await attempt([](Budget& self, std::int64_t rights) -> Task<Unit> {
        const auto transaction = co_await self.owner_.store.begin(Access::write);
        transaction->put(Store::limits, self.own_key(),
                         format_holding({HoldingRow::State::given, rights, ++self.serial_}));
        co_await transaction->commit();
        co_return Unit{};
    }(*this, amount));
    if (given) {
        row_.reset();
        co_return;
    }
    // Nothing was written, so the rights still belong to this tab.
    if (given.error().code() != ErrorCode::unknown_commit) left_ += amount;
}

void Budget::resume() { hand_back(); }

}  // namespace tabacus
