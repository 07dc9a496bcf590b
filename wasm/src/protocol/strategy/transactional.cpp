#include "transactional.hpp"

#include <utility>

#include "checked_add.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

std::optional<std::int64_t> value_in(const std::optional<Row>& row) {
    if (!row) return 0;
    return row->foreign ? std::nullopt : parse_value(row->value);
}

}  // namespace

TransactionalCounter::TransactionalCounter(CounterLocation location, Durability durability)
    : StoredCounter(std::move(location)),
      key_(escaped(this->location().name)),
      durability_(durability) {}

Task<std::int64_t> TransactionalCounter::store(std::int64_t n) {
    constexpr Stores scope{Store::counters, Store::quarantine};
    const auto transaction = co_await world().database().begin(scope, Access::write, durability_);
    const auto row = co_await transaction->get(Store::counters, key_);
    const auto current = value_in(row);
    if (!current) quarantine(*transaction, *row);
    const auto next = co_await checked_add(current.value_or(0), n);
    transaction->put(Store::counters, key_, format_value(next));
    co_await transaction->commit();
    see(next);
    co_return next;
}

Task<std::int64_t> TransactionalCounter::read() {
    constexpr Stores scope{Store::counters};
    const auto transaction =
        co_await world().database().begin(scope, Access::read, Durability::relaxed);
    const auto stored = value_in(co_await transaction->get(Store::counters, key_));
    if (!stored) warn_once();
    see(stored.value_or(0));
    co_return value();
}

Guarantee TransactionalCounter::guarantee() const {
    const bool strict = durability_ == Durability::strict;
    return {.strategy = "transactional",
            .lost = "never once added",
            .reads_wait = "one transaction",
            .accuracy = "exact when read",
            .rows = "one",
            .needs = "indexeddb",
            .durability = strict ? "strict" : "relaxed",
            .losses = {.lost = in_every_model(lost_with_database(strict)), .exceeded = {}}};
}

void TransactionalCounter::quarantine(Transaction& transaction, const Row& row) {
    transaction.put(Store::quarantine, concat({"counters/", key_}), row.text());
    warn_once();
}

void TransactionalCounter::warn_once() {
    if (std::exchange(warned_, true)) return;
    warn_corrupt(key_, "A value that is not a number is set aside; the count begins at zero.");
}

}  // namespace tabacus
