#include "delta_rows.hpp"

#include <utility>

#include "checked_add.hpp"
#include "stored_record.hpp"

namespace tabacus {
namespace {

/// The number of rows from which folding is worth while: to read fewer rows again and again costs
/// less than the transaction that folds them.
constexpr std::size_t fold_rows_min = 32;

}  // namespace

Task<void> DeltaRows::append(std::int64_t n) {
    ++appends_;
    constexpr Stores scope{Store::deltas};
    const auto transaction = co_await world_.database().begin(scope, Access::write, durability_);
    transaction->put(Store::deltas, key_ + "/" + identifier_of(world_.random().bits()),
                     format_amount(n));
    co_await transaction->commit();
}

bool DeltaRows::Found::worth_folding(std::size_t rows_min) const {
    if (count.sum > value_max || count.sum < -value_max) return false;
    return rows.size() >= rows_min || !unreadable.empty() || unreadable_sum;
}

Task<DeltaRows::Count> DeltaRows::count() {
    // Tabs that come and go leave rows that no other count may ever fold.
    const auto rows_min = std::exchange(counted_, true) ? fold_rows_min : 1;
    const auto found = co_await scan(Access::read, rows_min);
    if (!found.worth_folding(rows_min)) co_return found.count;
    co_return (co_await scan(Access::write, rows_min)).count;
}

Task<DeltaRows::Found> DeltaRows::scan(Access access, std::size_t rows_min) {
    constexpr Stores scope{Store::counters, Store::deltas, Store::quarantine};
    Found found;
    found.count.after = appends_;
    const auto transaction = co_await world_.database().begin(scope, access, durability_);
    if (auto row = co_await transaction->get(Store::counters, key_)) {
        if (const auto sum = parse_amount(row->value)) {
            found.count.sum = *sum;
        } else {
            found.unreadable_sum = std::move(row);
        }
    }
    for (auto& row : co_await transaction->list(Store::deltas, key_ + "/")) {
        if (const auto n = parse_amount(row.value)) {
            found.count.sum = bounded_add(found.count.sum, *n);
            found.rows.push_back(std::move(row.key));
        } else {
            found.unreadable.push_back(std::move(row));
        }
    }
    if (access == Access::write && found.worth_folding(rows_min)) {
        fold(*transaction, found);
        co_await transaction->commit();
        for (const auto& row : found.unreadable) warn_(row.key);
        if (found.unreadable_sum) warn_(key_);
    }
    co_return found;
}

void DeltaRows::fold(Transaction& transaction, const Found& found) {
    const auto quarantine = [&](std::string_view store, const Row& row) {
        transaction.put(Store::quarantine, std::string(store) + "/" + row.key,
                        row.value.empty() ? "?" : row.value);
    };
    transaction.put(Store::counters, key_, format_amount(found.count.sum));
    for (const auto& key : found.rows) transaction.remove(Store::deltas, key);
    for (const auto& row : found.unreadable) {
        quarantine("deltas", row);
        transaction.remove(Store::deltas, row.key);
    }
    if (found.unreadable_sum) quarantine("counters", *found.unreadable_sum);
}

}  // namespace tabacus
