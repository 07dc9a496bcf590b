#include "batched.hpp"

#include <algorithm>
#include <utility>

#include "checked_add.hpp"

namespace tabacus {

BatchedCounter::BatchedCounter(CounterLocation location, Durability durability, BatchedTimes times)
    : StoredCounter(std::move(location)),
      times_(times),
      rows_(world(), "batched/" + escaped(this->location().name), durability,
            [this](std::string_view subject) {
                warn_corrupt(subject,
                             "A delta that cannot be read was set aside; all others count.");
            }) {}

Task<std::int64_t> BatchedCounter::store(std::int64_t n) {
    if (!counted_) co_await recount();
    co_await checked_add(value(), n);
    gathered_ += n;
    revalue();
    if (!std::exchange(timer_, true)) scope_.spawn(write_later());
    co_return value();
}

Task<std::int64_t> BatchedCounter::read() {
    co_await recount();
    co_return value();
}

Task<void> BatchedCounter::flush() {
    co_await StoredCounter::flush();
    for (;;) {
        co_await write();
        if (gathered_ != 0) continue;
        if (writing_ == 0) break;
        const Completer<Unit> settled;
        waiters_.push_back(settled);
        co_await settled.async();
    }
    if (const auto error = std::exchange(unknown_, std::nullopt)) co_await fail(*error);
}

/// Writes at once if the page is hidden, frozen or left: the timers of a hidden page run once a
/// minute, and those of a frozen page or of one in the back/forward cache do not run.
void BatchedCounter::on_lifecycle(LifecycleEvent event) {
    if (event == LifecycleEvent::hidden || event == LifecycleEvent::frozen ||
        event == LifecycleEvent::page_hide) {
        scope_.spawn(write_quietly());
    }
}

Task<void> BatchedCounter::write_later() {
    co_await world().clock().sleep(times_.interval_ms);
    timer_ = false;
    co_await write_quietly();
    if (gathered_ != 0 && !std::exchange(timer_, true)) scope_.spawn(write_later());
}

/// Writes. If that fails, sends a warning; the increments stay gathered for the next write.
Task<void> BatchedCounter::write_quietly() {
    const auto written = co_await attempt(write());
    if (written) co_return;
    location().on_notice({Notice::Kind::warning, "", "A delta was not written.", location().name,
                          "", 0, written.error().code()});
}

/// Writes one delta with all gathered increments, or with as much of them as a delta may hold. Does
/// not wait before the commit if the connection is open.
Task<void> BatchedCounter::write() {
    if (gathered_ == 0) co_return;
    const auto append = rows_.appends() + 1;
    const auto n = std::clamp(gathered_, -value_max, value_max);
    gathered_ -= n;
    written_.push_back({append, n, false});
    ++writing_;
    const auto appended = co_await attempt(rows_.append(n));
    settle(append, static_cast<bool>(appended));
    if (appended) notify_others();
    std::optional<Error> failure;
    if (!appended) {
        const Error error = appended.error();
        if (error.code() == ErrorCode::unknown_commit) {
            unknown_ = error;
        } else {
            gathered_ += n;
            failure = error;
        }
    }
    revalue();
    --writing_;
    for (const auto& waiter : std::exchange(waiters_, {})) waiter.complete({});
    if (failure) co_await fail(*failure);
}

/// Notes the end of an append. A committed one stays in `written_` until a count begins after it,
/// which has seen it.
void BatchedCounter::settle(std::uint64_t append, bool committed) {
    const auto found = std::find_if(written_.begin(), written_.end(),
                                    [&](const auto& one) { return one.append == append; });
    if (found == written_.end()) return;
    if (committed && append > count_.after) {
        found->committed = true;
    } else {
        written_.erase(found);
    }
}

Task<void> BatchedCounter::recount() {
    const auto count = co_await rows_.count();
    counted_ = true;
    if (count.after < count_.after) co_return;  // a count that began later was faster
    count_ = count;
    // The count's transaction ran after every append that began before it, even if the outcome of
    // the append is unknown.
    std::erase_if(written_, [&](const auto& one) { return one.append <= count_.after; });
    revalue();
}

void BatchedCounter::revalue() {
    auto value = bounded_add(count_.sum, gathered_);
    for (const auto& one : written_) value = bounded_add(value, one.n);
    see(value);
}

Guarantee BatchedCounter::guarantee() const {
    const bool strict = rows_.durability() == Durability::strict;
    return {.strategy = "batched",
            .lost = "never once flushed; up to an interval's with their tab",
            .reads_wait = "one transaction",
            .accuracy = "others' increments up to an interval late",
            .rows = "one, and one per delta until it is folded",
            .needs = "indexeddb",
            .durability = strict ? "strict" : "relaxed",
            .losses = {.lost = in_every_model(lost_with_database(strict)),
                       .exceeded = {},
                       .before_flush = true}};
}

}  // namespace tabacus
