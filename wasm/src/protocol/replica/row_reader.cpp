#include "row_reader.hpp"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "protocol/common/concat.hpp"
#include "protocol/common/next_key.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// The most reads of one load(). A read that finds another database or another owner of the own row
/// is followed by an adoption, and that may happen twice.
constexpr int rounds_max = 3;

/// The most rows that are read at once: more would make a task that a user notices.
constexpr std::uint32_t page_rows = 512;
/// The most rows of other counters that are read for each requested counter. Reading so many rows
/// takes about as long as a separate request for that counter.
constexpr std::size_t other_rows_max = 4;

Task<void> load_all(Replica& replica, const std::list<ReadRequest>& requests) {
    for (int round = 0; round < rounds_max; ++round) {
        for (const auto& request : requests) {
            request.state->reads.begin();
        }
        if (co_await replica.load_rows(requests)) break;
        replica.slot.lose();
        co_await ensure_adopted(replica);
    }
}

Task<void> read_loop(Replica& replica) {
    auto& reader = replica.reader;
    reader.set_running(true);
    co_await replica.world.clock().end_of_turn();
    while (reader.requested()) {
        const auto requests = reader.take();
        const auto outcome = co_await attempt(load_all(replica, requests));
        for (const auto& request : requests) {
            request.state->reads.end();
            replica.revalue(*request.state);
            if (outcome) {
                request.done.complete({});
            } else {
                request.done.fail(failure_of(outcome.error()));
            }
        }
    }
    reader.set_running(false);
}

/// Reads the rows of the requested counters, and merges them. A single counter is read by one
/// request to the store. Several counters are read page by page. If the pages have too many rows of
/// other counters, the remaining counters are read by a request each. Returns false if merge_row()
/// does.
Task<bool> read_rows(Replica& replica, Transaction& transaction,
                     const std::list<ReadRequest>& requests) {
    bool ours = true;
    bool paged = requests.size() > 1;
    std::size_t other_rows = 0;
    std::string from;
    for (auto request = requests.begin(); request != requests.end();) {
        // Several callers may wait for one counter.
        if (!request->state->reads.reading()) {
            ++request;
            continue;
        }
        const auto rows =
            co_await transaction.list(Store::rows, paged ? "" : concat({request->state->key, "/"}),
                                      paged ? page_rows : Transaction::rows_max, from);
        for (const auto& row : rows) {
            const auto key = std::string_view(row.key);
            const auto end = key.find('/');
            auto* const state = replica.counters.find(key.substr(0, end));
            if (end < key.size() && state != nullptr && state->reads.reading()) {
                ours &= merge_row(replica, *state, key.substr(end + 1), row.value, row.foreign);
            } else {
                ++other_rows;
            }
        }
        if (!paged) {
            request->state->reads.end();
        } else if (rows.empty()) {
            break;
        } else {
            paged = other_rows <= other_rows_max * requests.size();
            from = paged ? next_key(rows.back().key) : "";
        }
    }
    co_return ours;
}

}  // namespace

Async<Unit> load(Replica& replica, CounterState& state) {
    if (replica.medium == Medium::memory) {
        post(replica, {format_message({Message::Kind::ask, state.key, "", {}})});
        return Unit{};
    }
    auto read = replica.reader.add(state);
    if (!replica.reader.running()) replica.scope.spawn(read_loop(replica));
    return read;
}

Async<Unit> read_bases(Replica& replica) {
    CounterList unknown;
    for (auto* state : replica.counters.busy()) {
        if (state->own_row.dirty() && !state->own_row.based() &&
            !state->reads.know_base(replica.slot.epoch())) {
            unknown.push_back(state);
        }
    }
    Async<Unit> read = Unit{};
    if (unknown.size() > single_bases_max) {
        // One transaction reads all of them, so the end of the last read is the end of all.
        for (auto* state : unknown) read = load(replica, *state);
    }
    return read;
}

Task<bool> load_from_database(Replica& replica, const std::list<ReadRequest>& requests) {
    const auto epoch = replica.slot.adopted() ? replica.slot.epoch() : 0;
    constexpr Stores scope{Store::meta, Store::rows};
    std::optional<Row> generation;
    bool ours = true;
    {
        const auto transaction =
            co_await replica.world.database().begin(scope, Access::read, Durability::relaxed);
        generation = co_await transaction->get(Store::meta, "generation");
        ours = co_await read_rows(replica, *transaction, requests);
    }
    auto expected = replica.generation.id();
    if (expected.empty()) {
        expected = Backup::parsed_generation(co_await attempt(replica.backup.generation()));
    }
    if (!Generation::readable(generation)) co_return false;
    if (!expected.empty() && expected != generation->value) co_return false;
    if (!ours || replica.generation.loss_reported()) co_return false;
    for (const auto& request : requests) request.state->reads.complete(epoch);
    co_return true;
}

bool merge_row(Replica& replica, CounterState& state, std::string_view row, std::string_view value,
               bool foreign) {
    if (state.adoption_unknown()) return false;
    const auto record = foreign ? std::nullopt : parse_totals(value);
    if (!is_row_id(row) || !record) {
        const bool newer = is_newer(value);
        state.reads.meet_unreadable(newer);
        if (!newer) replica.notices.warn_unreadable("rows", concat({state.key, "/", row}));
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
    const bool first = state.reads.take_first();
    const auto loaded = co_await attempt(load(replica, state));
    if (!first || loaded) co_return;
    state.reads.request_first();  // read() and flush() report it to their callers
    replica.counters.touch(state);
}

void reload_all(Replica& replica) {
    for (auto& state : replica.counters) replica.scope.spawn(reload(replica, state));
}

}  // namespace tabacus
