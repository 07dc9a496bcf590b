#include "counter_set.hpp"

#include <algorithm>

namespace tabacus {

CounterState* CounterSet::find(std::string_view key) {
    const auto found = std::find_if(counters_.begin(), counters_.end(),
                                    [&](const auto& state) { return state.key == key; });
    return found == counters_.end() ? nullptr : &*found;
}

bool CounterSet::dirty() const {
    return std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return state.own_row.dirty(); });
}

bool CounterSet::awaited() const {
    return std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return state.flushes.awaited(); });
}

bool CounterSet::unsettled() const {
    return std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return !state.unknown.empty(); });
}

Durability CounterSet::durability_of_dirty() const {
    auto durability = Durability::relaxed;
    for (const auto& state : counters_) {
        if (state.own_row.dirty()) durability = std::max(durability, state.durability);
    }
    return durability;
}

std::list<CommitRow> CounterSet::gather(Durability durability) {
    std::list<CommitRow> rows;
    for (auto& state : counters_) {
        if (!state.own_row.dirty() || state.durability > durability) continue;
        rows.push_back({.state = &state,
                        .totals = state.own_row.attempted(),
                        .increments = state.own_row.pending(),
                        .through = state.flushes.counted(),
                        .based = state.own_row.based(),
                        .base = {}});
    }
    return rows;
}

void CounterSet::fail_flushes(const Error& error) {
    for (auto& state : counters_) state.flushes.fail(error);
}

void CounterSet::end_epoch(std::string_view row, std::int64_t epoch) {
    for (auto& state : counters_) {
        if (state.own_row.based()) {
            state.row_cache.merge_committed(row, {epoch, state.own_row.committed()});
        }
        state.own_row.end_epoch();
    }
}

}  // namespace tabacus
