// Reading the store: its rows are merged into the row cache, one by one, and validated on the way.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// Reading again after adopting: once for a database that was made meanwhile, once more for luck.
constexpr int rounds_max = 3;

}  // namespace

Task<std::int64_t> Replica::read(CounterState& state) {
    co_await load(state);
    if (medium_ == Medium::memory) co_return state.value;
    co_return saturating_add(state.row_cache.committed_sum(), state.own());
}

Task<void> Replica::load(CounterState& state) {
    if (medium_ == Medium::memory) {
        post({Message::Kind::ask, state.key, "", {}});
    } else {
        for (int round = 0; round < rounds_max; ++round) {
            if (co_await load_rows(state)) break;
            lose_slot();
            co_await ensure_adopted();
        }
    }
    revalue(state);
}

/// False when this is not the database that was expected, or the own row has another owner, or it
/// is not known whether it is the own one: the caller adopts a slot, which reports and recovers,
/// settles that and gives the row to the others, then retries.
Task<bool> Replica::load_rows(CounterState& state) {
    constexpr Stores scope{Store::meta, Store::rows};
    std::optional<Row> generation;
    std::vector<Row> rows;
    {
        const auto transaction =
            co_await world_.database().begin(scope, Access::read, Durability::relaxed);
        generation = co_await transaction->get(Store::meta, "generation");
        rows = co_await transaction->list(Store::rows, concat({state.key, "/"}));
    }
    auto expected = generation_;
    if (expected.empty()) {
        expected = Backup::parsed_generation(co_await attempt(backup_.generation()));
    }
    if (state.adoption_unknown()) co_return false;
    const auto prefix = state.key.size() + 1;
    bool ours = true;
    for (const auto& row : rows) {
        const auto id = std::string_view(row.key).substr(prefix);
        if (!merge_row(state, id, row.value, row.foreign)) ours = false;
    }
    const bool readable = generation && !generation->foreign && is_identifier(generation->value);
    if (!readable || (!expected.empty() && expected != generation->value)) co_return false;
    co_return ours&& data_loss_ != "total";
}

/// False when another replica adopted this one's row (while the page slept in the back/forward
/// cache, say): what it holds beyond our own totals can only be counted once the row is no longer
/// ours.
bool Replica::merge_row(CounterState& state, std::string_view row, std::string_view value,
                        bool foreign) {
    const auto record = foreign ? std::nullopt : parse_totals(value);
    if (!is_row_id(row) || !record) {
        warn_unreadable("rows", concat({state.key, "/", row}));
        return true;
    }
    if (!state.based || row != row_ || give_up_row(record->epoch)) {
        state.row_cache.merge_committed(row, *record);
        return true;
    }
    return record->epoch <= row_epoch_;
}

void Replica::reload_all() {
    for (auto& state : counters_) scope_.spawn(reload(state));
}

/// load() for those who do not wait: a failure leaves what is known, and the next reason to read
/// (waking, news, read(), and after a failed first read the next turn) comes.
Task<void> Replica::reload(CounterState& state) {
    const bool first = std::exchange(state.unread, false);
    const auto loaded = co_await attempt(load(state));
    if (first && !loaded) state.unread = true;  // read() and flush() report it to their callers
}

}  // namespace tabacus
