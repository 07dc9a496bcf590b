// News: this tab's totals for the others, and theirs for this tab.
//
// Cumulative, so that order, repetition and loss do no harm. Not believed for long: whatever was
// received is checked against the store after a while, and forgotten if the store does not confirm
// it.
#include <algorithm>

#include "replica.hpp"

namespace tabacus {
namespace {

/// Between two announcements of one tab: far above what a channel carries in a burst, below what an
/// eye sees.
constexpr double announce_pause_ms = 4;

/// An owner commits within milliseconds. What was received and is not stored after one second is
/// checked; by a second check, twice as late, the owner is gone or its store is full.
constexpr double confirm_first_ms = 1000;
constexpr int confirm_checks_max = 2;

}  // namespace

void Replica::open_channel() {
    channel_ = world_.channel(names_.channel());
    if (channel_) channel_->on_message([this](std::string_view text) { on_message(text); });
}

void Replica::post(const Message& message) {
    if (channel_) channel_->post(format_message(message));
}

void Replica::announce() {
    for (auto& state : counters_) {
        if (!std::exchange(state.announceable, false)) continue;
        // Until the row is based its totals are not known: the commit announces them.
        if (medium_ == Medium::database && !state.based) continue;
        post({Message::Kind::totals, state.key, row_, {row_epoch_, state.attempted}});
    }
}

Task<void> Replica::announce_loop() {
    announcing_ = true;
    while (!suspended_ && !closed_ &&
           std::any_of(counters_.begin(), counters_.end(),
                       [](const auto& state) { return state.announceable; })) {
        announce();
        co_await world_.clock().sleep(announce_pause_ms);
    }
    announcing_ = false;
}

CounterState* Replica::find(std::string_view key) {
    const auto found = std::find_if(counters_.begin(), counters_.end(),
                                    [&](const auto& state) { return state.key == key; });
    return found == counters_.end() ? nullptr : &*found;
}

void Replica::on_message(std::string_view text) {
    const auto message = parse_message(text);
    if (!message || closed_) return;  // another version's, or a stranger's
    if (message->kind == Message::Kind::recovered) {
        reload_all();
        return;
    }
    auto* const state = find(message->counter);
    if (state == nullptr) return;
    if (message->kind == Message::Kind::totals) {
        on_totals(*state, *message);
    } else if (message->kind == Message::Kind::ask && medium_ == Medium::memory) {
        state->announceable = true;
        if (!turn_scheduled_) schedule_turn();
    }
}

void Replica::on_totals(CounterState& state, const Message& message) {
    // Nobody but this tab can know its own row better.
    const bool own = message.row == row_ && (state.based || medium_ != Medium::database);
    if (own && !give_up_row(message.record.epoch)) return;
    state.row_cache.merge_announced(message.row, message.record);
    revalue(state);
    if (medium_ == Medium::memory) return;
    state.unconfirmed = true;
    if (!confirming_) scope_.spawn(confirm_loop());
}

/// Checks what was received against the store, and forgets what the store does not confirm.
Task<void> Replica::confirm_loop() {
    confirming_ = true;
    double pause_ms = confirm_first_ms;
    const auto waiting = [](const auto& state) { return state.unconfirmed; };
    while (!closed_ && std::any_of(counters_.begin(), counters_.end(), waiting)) {
        co_await world_.clock().sleep(pause_ms);
        bool again = false;
        for (auto& state : counters_) {
            if (!std::exchange(state.unconfirmed, false) || suspended_ || closed_) continue;
            co_await reload(state);
            if (state.row_cache.age_announcements(confirm_checks_max))
                state.unconfirmed = again = true;
            revalue(state);
        }
        pause_ms = again ? pause_ms * 2 : confirm_first_ms;
    }
    confirming_ = false;
}

}  // namespace tabacus
