#include "lamport.hpp"

#include <cmath>

#include "protocol/common/record.hpp"
#include "stored_record.hpp"

namespace tabacus {

LamportCounter::LamportCounter(CounterLocation location, LamportTimes times)
    : NaiveCounter(std::move(location), "lamport"),
      times_(times),
      x_(key() + "/x"),
      y_(key() + "/y") {}

Task<std::int64_t> LamportCounter::store(std::int64_t n) {
    const auto me = co_await lock();
    auto next = co_await attempt(NaiveCounter::store(n));
    co_await unlock(me);
    if (!next) co_await fail(next.error());
    co_return next.value();
}

Task<std::string> LamportCounter::lock() {
    auto& storage = world().storage();
    for (;;) {
        const auto me = attempt_id();
        co_await storage.set(x_, me);
        const auto owner = co_await storage.get(y_);
        if (owner && !overdue(*owner)) {
            co_await wait(times_.back_off_ms);
            continue;
        }
        co_await storage.set(y_, me);
        if (co_await storage.get(x_) == me) co_return me;
        co_await wait(times_.delay_ms);
        if (co_await storage.get(y_) == me) co_return me;
    }
}

/// Releases the lock if this attempt still owns it. A lock that was stolen belongs to another tab.
Task<void> LamportCounter::unlock(std::string me) {
    if (co_await world().storage().get(y_) == me) co_await world().storage().remove(y_);
}

std::string LamportCounter::attempt_id() {
    const auto now_ms = static_cast<std::int64_t>(world().clock().now_ms());
    return format_value(now_ms) + "_" + identifier_of(world().random().bits());
}

/// Whether the lock may be stolen from `owner`. An owner that cannot be read owns nothing. A time
/// far in the future means that the clock was set back, and counts as old.
bool LamportCounter::overdue(std::string_view owner) const {
    const auto parts = parts_of<2>(owner, '_');
    const auto since_ms = parts ? parse_value(parts->front()) : std::nullopt;
    if (!since_ms || !is_identifier(parts->back())) return true;
    return std::abs(world().clock().now_ms() - static_cast<double>(*since_ms)) >
           times_.force_after_ms;
}

Guarantee LamportCounter::guarantee() const {
    auto guarantee = NaiveCounter::guarantee();
    guarantee.strategy = "lamport";
    guarantee.lost = "concurrent updates of tabs in different processes, or of a slow tab";
    guarantee.rows = "one key, and two for its lock";
    guarantee.losses.lost = {lost_with_storage, always, always};
    return guarantee;
}

}  // namespace tabacus
