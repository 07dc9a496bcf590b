#include "replica.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/concat.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus {

Replica::Replica(World& its_world, const Names& its_names, Medium its_medium,
                 NoticeHandler on_notice, std::string data_loss)
    : world(its_world),
      names(its_names),
      medium(its_medium),
      notices(std::move(on_notice)),
      backup(its_world, names),
      generation(std::move(data_loss)) {
    if (medium != Medium::database) {
        slot.begin_private_epoch(concat({medium == Medium::storage ? "local/" : "memory/",
                                         identifier_of(world.random().bits())}));
    }
    if (medium != Medium::database) listen(*this);
    phase.follow(*this);
}

CounterState& Replica::counter(std::string_view name, Durability durability) {
    auto key = escaped(name);
    auto* const found = counters.find(key);
    if (found != nullptr) {
        // Strict for one handle is strict for the row that all handles share.
        found->durability = std::max(found->durability, durability);
        return *found;
    }
    auto& state = counters.add(std::move(key), durability, medium != Medium::database);
    schedule_turn();
    return state;
}

void Replica::revalue(CounterState& state) {
    if (!state.revalue()) return;
    counters.touch(state);
    schedule_turn();
}

void Replica::schedule_turn() {
    if (counters.request_turn()) scope.spawn(turn());
}

Task<void> Replica::turn() {
    co_await world.clock().end_of_turn();
    counters.begin_turn();
    if (closed()) co_return;
    // The store is not read when the counter is made: its caller adds to it next, and need not wait
    // for a transaction to be begun.
    for (auto* state : counters.busy()) {
        if (state->reads.first_due()) scope.spawn(reload(*this, *state));
    }
    // Announcements come first, because other tabs need not wait for the disk to see a change.
    start_announcing(*this);
    start_committing(*this);
    counters.settle();
}

Task<std::int64_t> Replica::read(CounterState& state) {
    const bool due = state.reads.first_due();
    follow(*this, state);
    if (!due) state.reads.take_first();  // this very call reads what was announced before
    co_await load(*this, state);
    if (state.reads.newer()) co_await fail(newer_record(state.key));
    if (medium == Medium::memory) co_return state.value.get();
    co_return saturating_add(state.row_cache.committed_sum(), state.own_row.value());
}

Task<void> Replica::flush(CounterState& state) {
    if (closed()) co_await fail(ErrorCode::closed, "the tab is closed");
    if (state.flushes.take_unknown()) co_await fail(CounterFlushes::unknown_outcome());
    if (state.flushes.all_committed()) co_return;
    auto committed = state.flushes.wait();
    counters.touch(state);
    committer.retry_now();
    schedule_turn();
    co_await committed;
}

Task<void> Replica::close() {
    std::optional<Error> failure;
    committer.before_last_commits().call();
    for (auto& state : counters) {
        if (!active()) break;
        const auto flushed = co_await attempt(flush(state));
        if (!flushed) failure = flushed.error();
    }
    if (active()) announce_at_once(*this);
    phase.close();
    counters.fail_flushes(Error(ErrorCode::closed, "the tab was closed before the commit"));
    release(slot, news);
    if (failure) co_await fail(*failure);
}

Task<bool> Replica::load_rows(const std::list<ReadRequest>& requests) {
    return load_from_database(*this, requests);
}
Task<void> Replica::commit_rows(std::size_t most) { return commit_to_database(*this, most); }

}  // namespace tabacus
