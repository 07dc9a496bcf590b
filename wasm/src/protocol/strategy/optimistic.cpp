#include "optimistic.hpp"

#include <utility>

#include "checked_add.hpp"
#include "stored_record.hpp"

namespace tabacus {

OptimisticCounter::OptimisticCounter(CounterLocation location, Durability durability,
                                     OptimisticTimes times)
    : StoredCounter(std::move(location)),
      key_("optimistic/" + escaped(this->location().name)),
      durability_(durability),
      times_(times) {}

Task<std::int64_t> OptimisticCounter::store(std::int64_t n) {
    const Completer<std::int64_t> done;
    gathered_.push_back({n, done});
    if (!std::exchange(writing_, true)) scope_.spawn(write_gathered());
    co_return co_await done.async();
}

Task<std::int64_t> OptimisticCounter::read() {
    constexpr Stores scope{Store::counters};
    const auto transaction =
        co_await world().database().begin(scope, Access::read, Durability::relaxed);
    see((co_await get(*transaction, nullptr)).value);
    co_return value();
}

Task<void> OptimisticCounter::write_gathered() {
    while (!gathered_.empty()) {
        const auto tried = co_await attempt(try_once());
        if (!tried) fail_all(std::exchange(gathered_, {}), tried.error());
    }
    writing_ = false;
}

Task<void> OptimisticCounter::try_once() {
    constexpr Stores scope{Store::counters};
    Versioned seen;
    {
        const auto reading =
            co_await world().database().begin(scope, Access::read, Durability::relaxed);
        seen = co_await get(*reading, nullptr);
    }
    if (co_await try_write(seen)) co_return;
    const auto share = static_cast<double>(world().random().bits() >> 11U) * 0x1p-53;
    co_await world().clock().sleep(share * times_.back_off_ms);
}

void OptimisticCounter::fail_all(const std::vector<Increment>& increments, const Error& error) {
    for (const auto& increment : increments) increment.done.fail(failure_of(Error(error)));
}

/// Writes the gathered increments if the version is still `seen`. Returns false if it has changed;
/// then nothing is written, and the increments stay gathered.
Task<bool> OptimisticCounter::try_write(Versioned seen) {
    constexpr Stores scope{Store::counters, Store::quarantine};
    const auto transaction = co_await world().database().begin(scope, Access::write, durability_);
    std::optional<Row> unreadable;
    const auto stored = co_await get(*transaction, &unreadable);
    if (stored.version != seen.version) co_return false;

    auto delta = std::exchange(gathered_, {});
    auto next = seen.value;
    for (auto& increment : delta) {
        auto sum = co_await attempt(checked_add(next, increment.n));
        if (sum) {
            next = increment.value = sum.value();
        } else {
            increment.done.fail(failure_of(Error(sum.error())));
        }
    }
    std::erase_if(delta, [](const auto& increment) { return increment.done.completed(); });
    if (unreadable) {
        transaction->put(Store::quarantine, "counters/" + key_,
                         unreadable->value.empty() ? "?" : unreadable->value);
    }
    transaction->put(Store::counters, key_,
                     format_record({identifier_of(world().random().bits()), format_value(next)}));
    const auto committed = co_await attempt(transaction->commit());
    if (!committed) {
        fail_all(delta, committed.error());
        co_return true;
    }
    see(next);
    for (const auto& increment : delta) increment.done.complete(increment.value);
    co_return true;
}

Task<OptimisticCounter::Versioned> OptimisticCounter::get(Transaction& transaction,
                                                          std::optional<Row>* unreadable) {
    const auto row = co_await transaction.get(Store::counters, key_);
    if (!row) co_return Versioned{};
    const auto fields = record_fields<2>(row->value);
    const auto value = fields ? parse_value(fields->back()) : std::nullopt;
    if (value && is_identifier(fields->front())) {
        co_return Versioned{std::string(fields->front()), *value};
    }
    if (unreadable) *unreadable = row;
    if (!std::exchange(warned_, true)) {
        warn_corrupt(key_, "A value that cannot be read is set aside; the count begins at zero.");
    }
    // A version that no readable row has, so that a row which replaces this one is seen as a
    // change.
    co_return Versioned{"?", 0};
}

Guarantee OptimisticCounter::guarantee() const {
    const bool strict = durability_ == Durability::strict;
    return {.strategy = "optimistic",
            .lost = "never once added",
            .reads_wait = "one transaction",
            .accuracy = "exact when read",
            .rows = "one",
            .needs = "indexeddb",
            .durability = strict ? "strict" : "relaxed",
            .losses = {.lost = in_every_model(lost_with_database(strict)), .exceeded = {}}};
}

}  // namespace tabacus
