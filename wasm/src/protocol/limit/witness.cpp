#include "tabacus/limit/witness.hpp"

#include <algorithm>
#include <utility>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {
namespace {

/// The time that a tab waits for a witness before it asks again.
constexpr double witness_ms = 250;

std::int64_t wall_of(const Clock& clock) {
    return static_cast<std::int64_t>(
        std::clamp(clock.now_ms(), 0.0, static_cast<double>(value_max)));
}

}  // namespace

void Witness::stamp(RateRow& row, bool vanished) {
    clock_.see(row.now);
    row.serial = row.serial == value_max ? 0 : row.serial + 1;
    row.now = clock_.now();
    row.ahead = clock_.ahead();
    row.wall = wall_of(owner_.world.clock());
    // If the row vanished, the whole limit may have been granted just before.
    if (vanished) row.grants = {{row.now + row.ahead, policy_.limit}};
}

Task<std::optional<RateRow>> Witness::read_row() {
    const auto transaction = co_await owner_.store.begin(Access::write);
    co_return (co_await owner_.store.load(*transaction, key_, parse_rate)).row;
}

Task<void> Witness::learn_time() {
    // Without locks, a tab has to ask in order to learn whether there is a witness.
    if (!owner_.world.locks().available() && co_await ask_time()) co_return;
    while (!co_await begin_time() && !co_await ask_time()) {
        // Two tabs that join at the same time may have taken each other for a witness.
        const auto random_ms = static_cast<double>(owner_.world.random().bits() % 50);
        co_await owner_.world.clock().sleep(random_ms);
    }
}

/// Takes the time from the wall clock if there is no witness. Returns false if there is one, or if
/// the page has stopped meanwhile.
Task<bool> Witness::begin_time() {
    auto& world = owner_.world;
    const auto resets = clock_.resets();
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
    if (resets != clock_.resets()) co_return false;
    auto at = row ? row->now : 1;
    if (row) at += std::max<std::int64_t>(wall_of(world.clock()) - row->wall, 0);
    clock_.begin(std::min(at, value_max / 2));
    co_return true;
}

/// Asks a witness for the time. Returns false if there is no answer, or if the page has stopped
/// meanwhile. This tab holds the witness lock while it asks, so that no other tab takes the time
/// from its wall clock meanwhile.
Task<bool> Witness::ask_time() {
    auto& world = owner_.world;
    const auto resets = clock_.resets();
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
    if (resets != clock_.resets()) co_return false;
    if (!row || (before && row->serial <= before->serial)) {
        lock_.reset();
        co_return false;
    }
    // A witness wrote the row after the first reading and before the second.
    clock_.join(row->now, row->ahead, asked_ms);
    co_return true;
}

/// Keeps the witness lock and returns true. If the page has stopped since the lock was requested,
/// releases the lock and returns false.
bool Witness::hold(std::unique_ptr<HeldLock> lock, int resets) {
    if (resets != clock_.resets()) return false;
    lock_ = std::move(lock);
    lock_->on_lost([this] { forget(); });
    return true;
}

void Witness::asked() {
    if (clock_.known() && !std::exchange(writing_, true)) scope_.spawn(write_time());
}

Task<void> Witness::write_time() {
    (void)co_await attempt([](Witness& self) -> Task<Unit> {
        const auto transaction = co_await self.owner_.store.begin(Access::write);
        const auto found = co_await self.owner_.store.load(*transaction, self.key_, parse_rate);
        if (!self.clock_.known()) co_return Unit{};
        auto row = found.row.value_or(RateRow{});
        self.stamp(row, found.vanished);
        transaction->put(Store::limits, self.key_, format_rate(row));
        co_await transaction->commit();
        co_return Unit{};
    }(*this));
    writing_ = false;
    owner_.broadcast(false);
}

void Witness::forget() {
    clock_.forget();
    lock_.reset();
}

}  // namespace tabacus
