#include "tabacus/limit/budget.hpp"

#include <algorithm>
#include <utility>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/concat.hpp"

namespace tabacus {

Budget::Budget(BudgetOwner owner, std::string key, std::int64_t limit)
    : owner_(std::move(owner)),
      key_(std::move(key)),
      used_(limit),
      holding_(concat({key_, "/", owner_.tab})),
      recall_(owner_, key_) {}

// --- Taking -------------------------------------------------------------------------------------

Task<bool> Budget::take(std::int64_t n) {
    if (take_now(n)) co_return true;
    if (n > used_.limit()) co_return false;
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
        if (std::exchange(wanted_back_, false) && !holding_.empty()) {
            co_await put_back();
        } else if (!waiters_.empty()) {
            co_await take_out();
        } else {
            break;
        }
    }
    serving_ = false;
    if (burst_.calls() > 0 && !std::exchange(closing_, true)) scope_.spawn(close_window());
    for (const auto& settler : std::exchange(settlers_, {})) settler.complete({});
}

void Budget::grant() {
    while (!waiters_.empty() && holding_.spend(waiters_.front().n)) {
        const auto waiter = waiters_.front();
        waiters_.pop_front();
        burst_.add(waiter.n);
        recall_.end();
        waiter.done.complete(true);
    }
}

void Budget::refuse() {
    const auto waiter = waiters_.front();
    waiters_.pop_front();
    recall_.end();
    waiter.done.complete(false);
}

Task<void> Budget::take_out() {
    if (fresh_) {
        auto live = co_await attempt(owner_.live_tabs());
        if (live) live_tabs_ = std::move(live.value());
    }
    auto taken = co_await attempt(owner_.store.persist<Round>(
        key_,
        [this]() -> Task<Round> {
            co_await owner_.hold_liveness();
            co_return co_await take_out_once();
        },
        true));
    fresh_ = false;
    live_tabs_.reset();
    if (!taken) {
        for (const auto& waiter : std::exchange(waiters_, {})) {
            waiter.done.fail(failure_of(taken.error()));
        }
        co_return;
    }
    auto& round = taken.value();
    if (!round.short_of) co_return;
    if (!recall_.may_help(round.holders)) co_return refuse();
    co_await recall_.ask(std::move(round.holders));
}

Task<std::int64_t> Budget::read_used(Transaction& transaction) {
    const auto found = co_await owner_.store.load(transaction, key_, parse_budget);
    const auto stored = found.row ? std::optional(found.row->used) : std::nullopt;
    co_return used_.read(stored, found.vanished);
}

Task<Budget::Round> Budget::take_out_once() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    if (holding_.uncertain()) {
        holding_.resolve(co_await transaction->get(Store::limits, holding_.key()));
    }
    auto used = co_await read_used(*transaction);
    if (waiters_.empty()) co_return Round{};
    const auto least = waiters_.front().n - holding_.left();
    if (least <= 0) co_return Round{};
    const auto before = used;
    Round round;
    if (fresh_) {
        round = co_await collect(*transaction, used);
    } else if (holding_.may_give()) {
        // This transaction overwrites the tab's row, so it puts back the rights that the row gives
        // up.
        const auto row = co_await transaction->get(Store::limits, holding_.key());
        used -= std::min(used, Holding::given_by(row));
    }
    const auto limit = used_.limit();
    if (limit - used < least && !fresh_) {
        used = before;
        round = co_await collect(*transaction, used);
    }
    if (limit - used < least) {
        round.short_of = true;
        if (used != before || used_.vanished() || fresh_) {
            co_await commit(*transaction, used, holding_.keep());
        }
        used_.update(used);
        co_return round;
    }
    const auto free = limit - used;
    auto amount = least;
    for (auto next = std::next(waiters_.begin()); next != waiters_.end(); ++next) {
        if (next->n > free - amount) break;
        amount += next->n;
    }
    amount += std::min(burst_.window(limit), (free - amount) / 4);
    const auto change = holding_.add(*transaction, amount);
    co_await commit(*transaction, used + amount, change);
    holding_.committed(change);
    co_return round;
}

/// Writes how much is used, and commits it together with the change of this tab's row.
Task<void> Budget::commit(Transaction& transaction, std::int64_t used, Holding::Change change) {
    transaction.put(Store::limits, key_, format_budget({used}));
    const auto committed = co_await attempt(transaction.commit());
    if (!committed) {
        holding_.failed(change, committed.error().code());
        co_await fail(committed.error());
    }
    used_.written(used);
    co_await owner_.store.mark(key_, "1");
    owner_.broadcast(false, used);
}

/// Puts back what other tabs have given up, and removes the rows of tabs that are known to be dead.
/// The rights that dead tabs held stay used, because no tab can know whether they were spent. So
/// even if a tab lives whose row is removed, nothing is overspent. Returns the tabs that hold
/// rights if together they hold enough for the first call that waits.
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
        } else if (live_tabs_ && tab != owner_.tab && !live_tabs_->contains(tab)) {
            transaction.remove(Store::limits, row.key);
        } else if (tab != owner_.tab && !recall_.is_silent(tab)) {
            held = std::min(held + holding->amount, value_max);
            round.holders.insert(tab);
        }
    }
    const auto least = waiters_.empty() ? 0 : waiters_.front().n - holding_.left();
    if (used_.limit() - used + held < least) round.holders.clear();
    co_return round;
}

// --- Recalling ----------------------------------------------------------------------------------

/// A tab that has spent all its rights answers, too, because its row still records some.
void Budget::recalled() {
    wanted_back_ = true;
    start();
}

void Budget::hand_back() {
    if (holding_.left() > 0) recalled();
}

void Budget::changed(std::int64_t used) {
    used_.update(std::min(used, used_.limit()));
    recall_.changed();
}

// --- Putting back -------------------------------------------------------------------------------

Task<void> Budget::put_back() {
    (void)co_await attempt(
        owner_.store.persist<Unit>(key_, [this] { return put_back_once(); }, false));
    // If this fails, the end of the next burst or the next recall tries again.
}

Task<Unit> Budget::put_back_once() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    if (holding_.uncertain()) {
        holding_.resolve(co_await transaction->get(Store::limits, holding_.key()));
    }
    const auto used = co_await read_used(*transaction);
    if (holding_.empty()) co_return Unit{};
    const auto change = holding_.remove(*transaction);
    co_await commit(*transaction, used - std::min(used, change.if_not), change);
    holding_.committed(change);
    co_return Unit{};
}

/// Waits until pause_ms pass without a call, then puts back what is left of the window.
Task<void> Budget::close_window() {
    for (auto seen = burst_.calls() - 1; seen != burst_.calls();) {
        seen = burst_.calls();
        if (owner_.world.lifecycle().hidden()) {
            // A transaction takes the place of the timer, because a hidden page's timers may run
            // only once a minute.
            (void)co_await attempt(refresh());
        } else {
            co_await owner_.world.clock().sleep(pause_ms);
        }
    }
    closing_ = false;
    burst_.end();
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
            if (n > used - holding_.left()) {
                co_await fail(ErrorCode::out_of_range, "cannot put back more than was taken");
            }
            transaction->put(Store::limits, key_, format_budget({used - n}));
            co_await transaction->commit();
            used_.written(used - n);
            co_await owner_.store.mark(key_, "1");
            owner_.broadcast(false, used - n);
            co_return Unit{};
        },
        false);
}

Task<void> Budget::refresh() {
    co_await owner_.store.persist<Unit>(key_, [this] { return refresh_once(); }, true);
}

Task<Unit> Budget::refresh_once() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    const auto before = co_await read_used(*transaction);
    auto used = before;
    co_await collect(*transaction, used);
    if (used == before && !used_.vanished()) {
        used_.update(used);
    } else {
        co_await commit(*transaction, used, holding_.keep());
    }
    co_return Unit{};
}

void Budget::drop() {
    holding_.drop();
    if (owner_.store.has_seen(key_)) used_.drop();
    scope_.spawn(restore());
}

Task<void> Budget::restore() { (void)co_await attempt(refresh()); }

// --- The page's lifecycle -----------------------------------------------------------------------

/// Records in this tab's row that its rights are given up, and forgets them, so that any tab may
/// put them back. Does not wait for a read, because no callback may run before the page stops.
void Budget::suspend() {
    if (!owner_.store.durable()) return;
    if (holding_.left() > 0) scope_.spawn(give_up());
}

Task<void> Budget::give_up() {
    const auto amount = holding_.surrender();
    auto given = co_await attempt([](Budget& self, std::int64_t rights) -> Task<Unit> {
        const auto transaction = co_await self.owner_.store.begin(Access::write);
        self.holding_.give(*transaction, rights);
        co_await transaction->commit();
        co_return Unit{};
    }(*this, amount));
    if (given) {
        holding_.given();
    } else if (given.error().code() != ErrorCode::unknown_commit) {
        holding_.restore(amount);
    }
}

void Budget::resume() { hand_back(); }

}  // namespace tabacus
