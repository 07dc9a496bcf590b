#include "outcome_sweeper.hpp"

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// Removes what is old among these outcomes. Returns whether there was any.
bool remove_old(Transaction& transaction, const std::vector<Row>& outcomes, double now_ms) {
    bool removed = false;
    for (const auto& row : outcomes) {
        const auto outcome = parse_outcome_row(row.value);
        const bool keeps =
            outcome ? now_ms - static_cast<double>(outcome->settled_ms) < OutcomeSweeper::kept_ms
                    : is_newer(row.value);
        if (keeps) continue;
        transaction.remove(Store::jobs, row.key);
        transaction.remove(Store::data, queue_value_key(row.key));
        removed = true;
    }
    return removed;
}

/// Returns the key of the last of these outcomes, or nothing if they are all that the queue has.
std::string next_from(const std::vector<Row>& outcomes) {
    return outcomes.size() < OutcomeSweeper::read_max ? std::string() : outcomes.back().key;
}

}  // namespace

void OutcomeSweeper::sweep(QueueRows& rows, const std::vector<Row>& outcomes) {
    next_ms_ = open_.monotonic_ms() + kept_ms;
    if (remove_old(rows.transaction, outcomes, open_.context.world.clock().now_ms())) {
        rows.touched = true;
    }
    auto from = next_from(outcomes);
    if (!from.empty()) open_.context.scope.spawn(sweep_rest(std::move(from)));
}

/// Sweeps all outcomes from that key on. What fails is left to the next sweep.
Task<void> OutcomeSweeper::sweep_rest(std::string from) {
    while (!from.empty()) {
        auto swept = co_await attempt(sweep_some(std::move(from)));
        from = swept ? std::move(swept.value()) : std::string();
    }
}

/// Sweeps read_max outcomes from that key on. Returns the key to go on from, or nothing.
Task<std::string> OutcomeSweeper::sweep_some(std::string from) {
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction = co_await open_.begin(scope, Access::write, Durability::relaxed);
    const auto outcomes =
        co_await transaction->list(Store::jobs, open_.row_key("o/"), read_max, from);
    if (remove_old(*transaction, outcomes, open_.context.world.clock().now_ms())) {
        co_await transaction->commit();
    }
    co_return next_from(outcomes);
}

}  // namespace tabacus
