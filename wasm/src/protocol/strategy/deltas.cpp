#include "deltas.hpp"

#include <cmath>

#include "checked_add.hpp"

namespace tabacus {

DeltasCounter::DeltasCounter(CounterLocation location, Durability durability, DeltasTimes times)
    : StoredCounter(std::move(location)),
      times_(times),
      rows_(world(), "deltas/" + escaped(this->location().name), durability,
            [this](std::string_view subject) {
                warn_corrupt(subject,
                             "A delta that cannot be read was set aside; all others count.");
            }) {}

Task<std::int64_t> DeltasCounter::store(std::int64_t n) {
    co_await count_if_stale();
    co_await checked_add(value() + under_way_, n);
    under_way_ += n;
    const auto append = rows_.appends() + 1;
    const auto appended = co_await attempt(rows_.append(n));
    under_way_ -= n;
    if (!appended) co_await fail(appended.error());
    added(append, n);
    co_return value();
}

/// Adds a committed append to the value, unless a count that began later has seen it.
void DeltasCounter::added(std::uint64_t append, std::int64_t n) {
    if (append <= counted_after_) return;
    uncounted_.emplace_back(append, n);
    see(bounded_add(value(), n));
}

Task<std::int64_t> DeltasCounter::read() {
    co_await count_if_stale();
    co_return value();
}

/// Counts again if the sum is older than the threshold, or if the clock was set back by more than
/// the threshold.
Task<void> DeltasCounter::count_if_stale() {
    const auto now_ms = world().clock().now_ms();
    if (counted_ms_ && times_.threshold_ms > 0 &&
        std::abs(now_ms - *counted_ms_) <= times_.threshold_ms) {
        co_return;
    }
    const auto count = co_await rows_.count();
    if (count.after < counted_after_) co_return;  // a count that began later was faster
    counted_ms_ = now_ms;
    counted_after_ = count.after;
    std::erase_if(uncounted_, [&](const auto& own) { return own.first <= count.after; });
    auto sum = count.sum;
    for (const auto& [append, n] : uncounted_) sum = bounded_add(sum, n);
    see(sum);
}

Guarantee DeltasCounter::guarantee() const {
    const bool strict = rows_.durability() == Durability::strict;
    return {.strategy = "deltas",
            .lost = "never once added",
            .reads_wait = "one transaction, once in a threshold",
            .accuracy = "others' increments up to the threshold late",
            .rows = "one, and one per increment until it is folded",
            .needs = "indexeddb",
            .durability = strict ? "strict" : "relaxed",
            .losses = {.lost = in_every_model(lost_with_database(strict)), .exceeded = {}}};
}

}  // namespace tabacus
