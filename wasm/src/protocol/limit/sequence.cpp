#include "tabacus/limit/sequence.hpp"

#include <algorithm>

#include "limit_record.hpp"
#include "limit_store.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus {

Task<SequenceRange> Sequence::reserve(std::int64_t count) {
    Waiter waiter{count, {}};
    const auto done = waiter.done;
    add(std::move(waiter));
    co_return co_await done.async();
}

void Sequence::add(Waiter waiter) {
    waiters_.push_back(std::move(waiter));
    if (!std::exchange(serving_, true)) scope_.spawn(serve());
}

/// Serves the calls in their order.
Task<void> Sequence::serve() {
    while (!waiters_.empty()) {
        give();
        if (waiters_.empty()) break;
        std::int64_t count = waiters_.front().count;
        if (!options_.gapless && count > 0) {
            count = 0;
            for (const auto& waiter : waiters_) {
                if (waiter.count > value_max - count) break;
                count += waiter.count;
            }
            count = std::max(count, options_.block);
        }
        const auto drops = drops_;
        auto fetched = co_await attempt(fetch(count));
        const bool short_of_all = !fetched && fetched.error().code() == ErrorCode::out_of_range;
        if (short_of_all && count > waiters_.front().count) {
            fetched = co_await attempt(fetch(waiters_.front().count));
        }
        if (fetched && drops != drops_) continue;  // the database may have vanished since
        if (fetched) {
            // The numbers that are left of the previous block are dropped: they are too few for the
            // first call, and smaller than the numbers that it gets.
            next_ = fetched.value().first;
            last_ = fetched.value().last;
            continue;
        }
        if (fetched.error().code() == ErrorCode::out_of_range) {
            // Only this call fails, because a later one may ask for fewer numbers.
            const auto refused = waiters_.front();
            waiters_.pop_front();
            refused.done.fail(failure_of(fetched.error()));
            continue;
        }
        for (const auto& waiter : std::exchange(waiters_, {})) {
            waiter.done.fail(failure_of(fetched.error()));
        }
    }
    serving_ = false;
}

void Sequence::give() {
    while (!waiters_.empty() && waiters_.front().count <= last_ - next_ + 1) {
        const auto waiter = waiters_.front();
        waiters_.pop_front();
        const SequenceRange range{next_, next_ + waiter.count - 1};
        next_ += waiter.count;
        waiter.done.complete(range);
    }
}

void Sequence::drop() {
    next_ = last_ + 2;  // from here on, even a call for no numbers needs the new database
    unknown_.reset();
    ++drops_;
    // Such a call makes the row anew, above all numbers that were given.
    if (seen_ > 0) add({0, {}});
}

Task<SequenceRange> Sequence::fetch(std::int64_t count) {
    return store_.persist<SequenceRange>(key_, [this, count] { return fetch_once(count); }, true);
}

Task<SequenceRange> Sequence::fetch_once(std::int64_t count) {
    const auto transaction = co_await store_.begin(Access::write);
    const auto found = co_await store_.load(*transaction, key_, parse_sequence);
    // A tab that had seen no number may have made the row anew meanwhile.
    auto base = std::max(found.row ? found.row->last : 0, seen_);
    if (found.vanished) base = co_await floor();
    if (const auto unknown = std::exchange(unknown_, std::nullopt)) {
        // The commit with the unknown outcome has happened, and no other one followed.
        if (found.row && found.row->grant == unknown->grant) {
            seen_ = unknown->range.last;
            co_return unknown->range;
        }
    }
    if (base > value_max - count) {
        co_await fail(ErrorCode::out_of_range, "the sequence has reached its end, 2^53 − 1");
    }
    const SequenceRange range{base + 1, base + count};
    const auto grant = identifier_of(world_.random().bits());
    transaction->put(Store::limits, key_, format_sequence({range.last, grant}));
    const auto committed = co_await attempt(transaction->commit());
    if (!committed) {
        if (committed.error().code() == ErrorCode::unknown_commit)
            unknown_ = UnknownCommit{grant, range};
        co_await fail(committed.error());
    }
    seen_ = range.last;
    co_await store_.mark(key_, format_decimal(range.last));
    co_return range;
}

Task<std::int64_t> Sequence::floor() {
    constexpr auto clock_max = static_cast<double>(std::int64_t{value_max / 2});
    const auto now_us = std::clamp(world_.clock().now_ms() * 1000.0, 0.0, clock_max);
    const auto text = co_await store_.marked(key_);
    if (text && is_newer(*text)) co_await fail(newer_record(key_));
    const auto marked = text ? parse_value(*text).value_or(0) : 0;
    co_return std::max({seen_, marked, static_cast<std::int64_t>(now_us)});
}

}  // namespace tabacus
