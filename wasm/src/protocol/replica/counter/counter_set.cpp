#include "counter_set.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/erase_selected.hpp"
#include "protocol/common/text_hash.hpp"

namespace tabacus {

CounterState*& CounterSet::bucket_of(std::string_view key) {
    return buckets_[text_hash(key) % bucket_count];
}

CounterState* CounterSet::find(std::string_view key) {
    auto* state = bucket_of(key);
    while (state != nullptr && state->key != key) state = state->next;
    return state;
}

CounterState& CounterSet::add(std::string&& key, Durability durability, bool based) {
    auto& state = counters_.emplace_back(std::move(key), durability, based);
    state.next = std::exchange(bucket_of(state.key), &state);
    touch(state);
    return state;
}

void CounterSet::touch(CounterState& state) {
    if (!std::exchange(state.busy, true)) busy_.push_back(&state);
}

void CounterSet::begin_turn() {
    turn_requested_ = false;
    for (auto* state : busy_) state->value.report();
}

void CounterSet::settle() {
    erase_selected(busy_, [](CounterState* state) {
        state->busy = state->pending();
        return !state->busy;
    });
}

bool CounterSet::dirty() const {
    return std::any_of(busy_.begin(), busy_.end(),
                       [](const auto* state) { return state->own_row.dirty(); });
}

bool CounterSet::awaited() const {
    return std::any_of(busy_.begin(), busy_.end(),
                       [](const auto* state) { return state->flushes.awaited(); });
}

bool CounterSet::unsettled() const {
    return std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return !state.unknown.empty(); });
}

Durability CounterSet::durability_of_dirty() const {
    auto durability = Durability::relaxed;
    for (const auto* state : busy_) {
        if (state->own_row.dirty()) durability = std::max(durability, state->durability);
    }
    return durability;
}

std::list<CommitRow> CounterSet::gather(Durability durability, std::size_t most) {
    std::list<CommitRow> rows;
    for (auto* state : busy_) {
        if (!state->own_row.dirty() || state->durability > durability) continue;
        if (rows.size() == most) break;
        rows.push_back({.state = state,
                        .totals = state->own_row.attempted(),
                        .increments = state->own_row.pending(),
                        .through = state->flushes.counted(),
                        .based = state->own_row.based(),
                        .base = {}});
    }
    return rows;
}

void CounterSet::fail_flushes(const Error& error) {
    for (auto* state : busy_) state->flushes.fail(error);
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
