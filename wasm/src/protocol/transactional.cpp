#include "transactional.hpp"

#include <array>
#include <utility>

#include "checked_add.hpp"
#include "concat.hpp"
#include "names.hpp"
#include "record.hpp"

namespace tabacus {
namespace {

std::optional<std::int64_t> value_in(const std::optional<Row>& row) {
    if (!row) return 0;
    return row->foreign ? std::nullopt : parse_value(row->value);
}

}  // namespace

TransactionalCounter::TransactionalCounter(World& world, std::string_view name,
                                           Durability durability, NoticeHandler on_notice)
    : world_(world),
      key_(escaped(name)),
      durability_(durability),
      on_notice_(std::move(on_notice)) {}

Task<std::int64_t> TransactionalCounter::add(std::int64_t n) {
    constexpr std::array scope{Store::counters, Store::aside};
    const auto transaction = co_await world_.database().begin(scope, Access::write, durability_);
    const auto row = co_await transaction->get(Store::counters, key_);
    const auto current = value_in(row);
    if (!current) set_aside(*transaction, *row);
    const auto next = co_await checked_add(current.value_or(0), n);
    transaction->put(Store::counters, key_, format_value(next));
    co_await transaction->commit();
    see(next);
    co_return next;
}

Task<std::int64_t> TransactionalCounter::read() {
    constexpr std::array scope{Store::counters};
    const auto transaction =
        co_await world_.database().begin(scope, Access::read, Durability::relaxed);
    const auto value = value_in(co_await transaction->get(Store::counters, key_)).value_or(0);
    see(value);
    co_return value;
}

Task<void> TransactionalCounter::flush() { co_return; }  // every add has committed

Subscription TransactionalCounter::on_change(std::function<void()> callback) {
    return watchers_.add(std::move(callback));
}

Guarantee TransactionalCounter::guarantee() const {
    return {.strategy = "transactional",
            .lost = "never once added",
            .reads_wait = "one transaction",
            .accuracy = "exact when read",
            .rows = "one",
            .needs = "indexeddb",
            .durability = durability_ == Durability::strict ? "strict" : "relaxed"};
}

void TransactionalCounter::set_aside(Transaction& transaction, const Row& row) {
    transaction.put(Store::aside, concat({"counters/", key_}), row.text());
    if (std::exchange(warned_, true)) return;
    on_notice_({Notice::Kind::warning, "corrupt-record",
                "A value that is not a number was set aside; the count begins at zero.", key_, "",
                0});
}

void TransactionalCounter::see(std::int64_t value) {
    if (std::exchange(last_seen_, value) != value) watchers_.call();
}

}  // namespace tabacus
