#include "replica_news.hpp"

#include <algorithm>

#include "replica.hpp"

namespace tabacus {
namespace {

/// The pause between two announcements of one tab. It is longer than a channel needs for one of
/// them, and too short for an eye to see.
constexpr double announce_pause_ms = 4;

/// An owner commits within milliseconds. What was received and is not stored after one second is
/// checked; by a second check, twice as late, the owner is gone or its store is full.
constexpr double confirm_first_ms = 1000;
constexpr int confirm_checks_max = 2;

Task<void> announce_loop(Replica& replica) {
    replica.news.set_announcing(true);
    while (replica.active() && std::any_of(replica.counters.begin(), replica.counters.end(),
                                           [](const auto& state) { return state.announceable; })) {
        replica.news.announce(replica.counters, replica.slot);
        co_await replica.world.clock().sleep(announce_pause_ms);
    }
    replica.news.set_announcing(false);
}

/// Checks what was received against the store, and forgets what the store does not confirm.
Task<void> confirm_loop(Replica& replica) {
    replica.news.set_confirming(true);
    double pause_ms = confirm_first_ms;
    const auto waiting = [](const auto& state) { return state.unconfirmed; };
    while (!replica.closed() &&
           std::any_of(replica.counters.begin(), replica.counters.end(), waiting)) {
        co_await replica.world.clock().sleep(pause_ms);
        bool again = false;
        for (auto& state : replica.counters) {
            if (!std::exchange(state.unconfirmed, false) || !replica.active()) continue;
            co_await reload(replica, state);
            if (state.row_cache.age_announcements(confirm_checks_max))
                state.unconfirmed = again = true;
            replica.revalue(state);
        }
        pause_ms = again ? pause_ms * 2 : confirm_first_ms;
    }
    replica.news.set_confirming(false);
}

void on_totals(Replica& replica, CounterState& state, const Message& message) {
    // Only this tab knows what is in its own row.
    const bool own = message.row == replica.slot.row() && state.own_row.based();
    if (own && !give_up_row(replica, message.record.epoch)) return;
    state.row_cache.merge_announced(message.row, message.record);
    replica.revalue(state);
    if (replica.medium == Medium::memory) return;
    state.unconfirmed = true;
    if (!replica.news.confirming()) replica.scope.spawn(confirm_loop(replica));
}

void on_message(Replica& replica, std::string_view text) {
    const auto message = parse_message(text);
    if (!message || replica.closed()) return;  // of another version, or of another script
    if (message->kind == Message::Kind::recovered) {
        reload_all(replica);
        return;
    }
    auto* const state = replica.counters.find(message->counter);
    if (state == nullptr) return;
    if (message->kind == Message::Kind::totals) {
        on_totals(replica, *state, *message);
    } else if (message->kind == Message::Kind::ask && replica.medium == Medium::memory) {
        state->announceable = true;
        replica.schedule_turn();
    }
}

}  // namespace

void ReplicaNews::post(const Message& message) const {
    if (channel_) channel_->post(format_message(message));
}

void ReplicaNews::announce(CounterSet& counters, const ReplicaSlot& slot) const {
    for (auto& state : counters) {
        if (!std::exchange(state.announceable, false)) continue;
        // The commit that bases the row announces it.
        if (!state.own_row.based()) continue;
        post({Message::Kind::totals,
              state.key,
              slot.row(),
              {slot.epoch(), state.own_row.attempted()}});
    }
}

void open_channel(Replica& replica) {
    auto channel = replica.world.channel(replica.names.channel());
    if (channel) {
        channel->on_message([&replica](std::string_view text) { on_message(replica, text); });
    }
    replica.news.set_channel(std::move(channel));
}

void start_announcing(Replica& replica) {
    if (!replica.news.announcing()) replica.scope.spawn(announce_loop(replica));
}

}  // namespace tabacus
