#include "tabacus/limit/holding.hpp"

#include "limit_record.hpp"

namespace tabacus {
namespace {

std::optional<HoldingRow> parse(const std::optional<Row>& stored) {
    return stored ? parse_holding(stored->value) : std::nullopt;
}

}  // namespace

std::int64_t Holding::given_by(const std::optional<Row>& stored) {
    const auto row = parse(stored);
    return row && row->state == HoldingRow::State::given ? row->amount : 0;
}

Holding::Change Holding::add(Transaction& transaction, std::int64_t amount) {
    const auto serial = ++serial_;
    transaction.put(Store::limits, key_,
                    format_holding({HoldingRow::State::open, left_ + amount, serial}));
    return {row_, serial, amount, 0};
}

Holding::Change Holding::remove(Transaction& transaction) {
    const auto amount = std::exchange(left_, 0);
    transaction.remove(Store::limits, key_);
    return {row_, std::nullopt, 0, amount};
}

void Holding::committed(const Change& change) {
    if (is_dropped(change)) {
        // It may have been committed to the new database.
        if (!unknown_) unknown_ = change;
        return;
    }
    left_ += change.if_done;
    row_ = change.after;
    if (row_) may_give_ = false;
}

void Holding::failed(const Change& change, ErrorCode code) {
    if (is_dropped(change)) return;
    if (code == ErrorCode::unknown_commit) {
        unknown_ = change;
    } else {
        left_ += change.if_not;
    }
}

void Holding::resolve(const std::optional<Row>& stored) {
    const auto unknown = std::exchange(unknown_, std::nullopt);
    const auto row = parse(stored);
    const auto serial =
        row && row->state == HoldingRow::State::open ? std::optional(row->serial) : std::nullopt;
    row_ = serial;
    if (!unknown || !serial || unknown->before == unknown->after) return;
    if (serial == unknown->after) left_ += unknown->if_done;
    if (serial == unknown->before) left_ += unknown->if_not;
}

std::int64_t Holding::surrender() {
    may_give_ = true;
    return std::exchange(left_, 0);
}

void Holding::give(Transaction& transaction, std::int64_t amount) {
    transaction.put(Store::limits, key_,
                    format_holding({HoldingRow::State::given, amount, ++serial_}));
}

}  // namespace tabacus
