#include "row_reader.hpp"

#include "protocol/common/concat.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// The most reads of one load(). A read that finds another database or another owner of the own row
/// is followed by an adoption, and that may happen twice.
constexpr int rounds_max = 3;

}  // namespace

Task<void> load(Replica& replica, CounterState& state) {
    if (replica.medium == Medium::memory) {
        post(replica, {format_message({Message::Kind::ask, state.key, "", {}})});
    } else {
        for (int round = 0; round < rounds_max; ++round) {
            if (co_await replica.load_rows(state)) break;
            replica.slot.lose();
            co_await ensure_adopted(replica);
        }
    }
    replica.revalue(state);
}

Task<bool> load_from_database(Replica& replica, CounterState& state) {
    constexpr Stores scope{Store::meta, Store::rows};
    std::optional<Row> generation;
    std::vector<Row> rows;
    {
        const auto transaction =
            co_await replica.world.database().begin(scope, Access::read, Durability::relaxed);
        generation = co_await transaction->get(Store::meta, "generation");
        rows = co_await transaction->list(Store::rows, concat({state.key, "/"}));
    }
    auto expected = replica.generation.id();
    if (expected.empty()) {
        expected = Backup::parsed_generation(co_await attempt(replica.backup.generation()));
    }
    if (state.adoption_unknown()) co_return false;
    const auto prefix = state.key.size() + 1;
    bool ours = true;
    for (const auto& row : rows) {
        const auto id = std::string_view(row.key).substr(prefix);
        if (!merge_row(replica, state, id, row.value, row.foreign)) ours = false;
    }
    if (!Generation::readable(generation)) co_return false;
    if (!expected.empty() && expected != generation->value) co_return false;
    co_return ours && !replica.generation.loss_reported();
}

bool merge_row(Replica& replica, CounterState& state, std::string_view row, std::string_view value,
               bool foreign) {
    const auto record = foreign ? std::nullopt : parse_totals(value);
    if (!is_row_id(row) || !record) {
        replica.notices.warn_unreadable("rows", concat({state.key, "/", row}));
        return true;
    }
    if (!state.own_row.based() || row != replica.slot.row() ||
        give_up_row(replica, record->epoch)) {
        state.row_cache.merge_committed(row, *record);
        return true;
    }
    return record->epoch <= replica.slot.epoch();
}

Task<void> reload(Replica& replica, CounterState& state) {
    const bool first = std::exchange(state.unread, false);
    const auto loaded = co_await attempt(load(replica, state));
    if (first && !loaded) state.unread = true;  // read() and flush() report it to their callers
}

void reload_all(Replica& replica) {
    for (auto& state : replica.counters) replica.scope.spawn(reload(replica, state));
}

}  // namespace tabacus
