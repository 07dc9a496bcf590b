#include "tabacus/replica/counter_transfer.hpp"

#include <utility>

#include "backup.hpp"
#include "counter/row_cache.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/next_key.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus {
namespace {

Async<Unit> require_database(World& world) {
    if (world.database().available()) return Unit{};
    return Async<Unit>::failed(
        Error(ErrorCode::unavailable, "there is no IndexedDB here, in which totals are kept"));
}

/// The most rows that are read at once: more would make a task that a user notices.
constexpr std::uint32_t rows_at_once = 1'024;

/// Fails if only a newer version can read one of the rows: the sum of the others is not the value.
Task<void> fail_if_newer(const std::vector<Row>& rows) {
    for (const auto& row : rows) {
        if (is_newer(row.value)) co_await fail(newer_record(row.key));
    }
}

/// Adds a row to the value of its counter. The rows of one counter must follow each other. `last_key`
/// is the escaped name of the last of the values.
void add_row(std::list<CounterValue>& values, std::string& last_key, const Row& row) {
    const auto key = parse_row_key(row.key);
    const auto record = parse_totals(row.value);  // the value of a foreign row is empty
    if (!key || !record) return;
    if (values.empty() || last_key != key->counter) {
        auto name = unescape(key->counter);
        if (!name) return;
        last_key = key->counter;
        values.push_back({.counter = *std::move(name)});
    }
    auto& value = values.back().value;
    value = saturating_add(value, record->totals.plus - record->totals.minus);
}

std::optional<TotalsRecord> record_of(const TransferredRow& row) {
    return parse_totals(concat({record_start, row.record}));
}

/// The committed row of a replica.
struct KnownRow {
    std::string node;
    TotalsRecord record;
};

}  // namespace

Task<std::list<TransferredRow>> CounterTransfer::state(std::string counter) {
    co_await require_database(world_);
    const auto prefix = concat({escaped(counter), "/"});
    constexpr Stores scope{Store::rows};
    const auto transaction =
        co_await world_.database().begin(scope, Access::read, Durability::relaxed);
    std::list<TransferredRow> rows;
    const auto stored = co_await transaction->list(Store::rows, prefix);
    co_await fail_if_newer(stored);
    for (const auto& row : stored) {
        auto node = row.key.substr(prefix.size());
        const auto record = parse_totals(row.value);
        if (!is_row_id(node) || !record) continue;
        rows.push_back({std::move(node), format_totals(*record).substr(record_start.size())});
    }
    co_return rows;
}

Task<std::list<CounterValue>> CounterTransfer::values(std::string prefix) {
    co_await require_database(world_);
    constexpr Stores scope{Store::rows};
    const auto transaction =
        co_await world_.database().begin(scope, Access::read, Durability::relaxed);
    std::list<CounterValue> values;
    std::string last_key;
    const auto escaped_prefix = escaped(prefix);
    auto next = transaction->list(Store::rows, escaped_prefix, rows_at_once);
    for (;;) {
        const auto rows = co_await next;
        if (rows.empty()) co_return values;
        // The store reads the next rows while these are added.
        next =
            transaction->list(Store::rows, escaped_prefix, rows_at_once, next_key(rows.back().key));
        co_await fail_if_newer(rows);
        for (const auto& row : rows) add_row(values, last_key, row);
    }
}

Task<void> CounterTransfer::merge(std::string counter, std::vector<TransferredRow> rows) {
    co_await require_database(world_);
    std::string_view before;
    for (const auto& row : rows) {
        if (!is_row_id(row.node) || !record_of(row) || row.node < before) {
            co_await fail(ErrorCode::invalid_argument,
                          "a row of the state cannot be read: pass what state() returned");
        }
        before = row.node;
    }
    const auto key = escaped(counter);
    {
        constexpr Stores scope{Store::meta, Store::rows};
        const auto transaction =
            co_await world_.database().begin(scope, Access::write, Durability::strict);
        const auto generation = co_await transaction->get(Store::meta, "generation");
        std::list<KnownRow> known;
        const auto prefix = concat({key, "/"});
        const auto stored = co_await transaction->list(Store::rows, prefix);
        co_await fail_if_newer(stored);
        for (const auto& row : stored) {
            const auto totals = parse_totals(row.value);
            auto node = row.key.substr(prefix.size());
            if (totals && is_row_id(node)) known.push_back({std::move(node), *totals});
        }
        auto at = known.begin();  // these rows are sorted by their nodes, as the others are
        for (const auto& row : rows) {
            if (generation && row.node.starts_with(concat({generation->value, "/"}))) continue;
            while (at != known.end() && at->node < row.node) ++at;
            if (at == known.end() || at->node != row.node) at = known.insert(at, {row.node, {}});
            if (!outgrows(at->record, *record_of(row))) continue;
            transaction->put(Store::rows, row_key(key, row.node), format_totals(at->record));
        }
        __int128 sum = 0;
        for (const auto& [node, record] : known) sum += record.totals.plus - record.totals.minus;
        if (sum > value_max || sum < -value_max) {
            co_await fail(ErrorCode::out_of_range,
                          "with that state the counter would leave ±(2^53 − 1)");
        }
        co_await transaction->commit();
    }
    // All tabs read what is new, this one's counters too.
    const Names names(name_space_);
    if (const auto channel = world_.channel(names.channel())) {
        channel->post(format_message({Message::Kind::recovered, "", "", {}}));
    }
}

}  // namespace tabacus
