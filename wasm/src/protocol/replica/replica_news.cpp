#include "replica_news.hpp"

#include <algorithm>

#include "protocol/common/version_guard.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

/// The pause between two announcements of one tab: a frame of a screen, in which an eye sees one
/// value only. However often the tab adds, another tab works through one message in a frame.
constexpr double announce_pause_ms = 16;
/// No further counter is announced in a message of this size, in bytes: some 300 counters with
/// short names. Many more would make a task that a user notices.
constexpr std::size_t message_size_max = 16'384;
/// Separates the lines of a message. Escaped names do not contain it.
constexpr char line_end = '\n';

/// What was committed is announced once more after this time. It is longer than some frames, so
/// that an increment that follows a commit is seldom announced late because of it.
constexpr double remind_after_ms = 100;

/// Totals that were received are checked against the store after this time. Their owner commits
/// within milliseconds, so if the second check fails, the owner is gone or its store is full.
constexpr double confirm_after_ms = 1500;
constexpr int confirm_checks_max = 2;

std::list<std::string> take_announcements(const Replica& replica) {
    return tabacus::take_announcements(replica.counters, replica.slot,
                                       replica.news.older_version_expected());
}

Task<void> announce_loop(Replica& replica) {
    replica.news.set_announcing(true);
    const auto waits = [](const auto* state) { return state->news.due(); };
    const auto& busy = replica.counters.busy();
    while (replica.active() && std::any_of(busy.begin(), busy.end(), waits)) {
        post(replica, take_announcements(replica));
        co_await replica.world.clock().sleep(announce_pause_ms);
    }
    replica.news.set_announcing(false);
}

void mark_committed(const CounterSet& counters) {
    for (auto* state : counters.busy()) state->news.repeat();
}

Task<void> remind(Replica& replica) {
    replica.news.set_reminding(true);
    co_await replica.world.clock().sleep(remind_after_ms);
    replica.news.set_reminding(false);
    if (!replica.active()) co_return;
    mark_committed(replica.counters);
    start_announcing(replica);
}

void expect_confirmation(Replica& replica, CounterState& state);

/// Checks what was received of a counter against the store, and forgets what the store does not
/// confirm.
Task<void> confirm(Replica& replica, CounterState& state) {
    co_await reload(replica, state);
    if (state.row_cache.age_announcements(confirm_checks_max)) expect_confirmation(replica, state);
    replica.revalue(state);
}

/// Checks all counters of which totals were received. The reads begin in one turn.
Task<void> confirm_all(Replica& replica) {
    co_await replica.world.clock().sleep(confirm_after_ms);
    replica.news.set_confirming(false);
    if (!replica.active()) co_return;
    for (auto& state : replica.counters) {
        if (state.news.take_unconfirmed()) replica.scope.spawn(confirm(replica, state));
    }
}

void expect_confirmation(Replica& replica, CounterState& state) {
    state.news.expect_confirmation();
    if (replica.news.confirming()) return;
    replica.news.set_confirming(true);
    replica.scope.spawn(confirm_all(replica));
}

void on_totals(Replica& replica, CounterState& state, const Message& message) {
    // Only this tab knows what is in its own row.
    const bool own = message.row == replica.slot.row() && state.own_row.based();
    if (own && !give_up_row(replica, message.record.epoch)) return;
    state.row_cache.merge_announced(message.row, message.record);
    replica.revalue(state);
    // The store is also read if it held all of this: a tab that was killed in the frame that
    // followed this message may have committed more.
    if (replica.medium != Medium::memory) expect_confirmation(replica, state);
}

void on_line(Replica& replica, std::string_view line) {
    const auto message = parse_message(line);
    if (!message || replica.closed()) return;  // of another version, or of another script
    if (message->kind == Message::Kind::recovered) {
        reload_all(replica);
        return;
    }
    if (message->kind == Message::Kind::totals && message->record.epoch < epochs_per_adoption &&
        replica.news.meet_older_version()) {
        replica.notices.warn("older-version", older_version_is_open, "");
    }
    auto* const state = replica.counters.find(message->counter);
    if (state == nullptr || !state->news.followed()) return;
    if (message->kind == Message::Kind::totals) {
        on_totals(replica, *state, *message);
    } else if (message->kind == Message::Kind::ask && replica.medium == Medium::memory) {
        state->news.announce();
        replica.counters.touch(*state);
        replica.schedule_turn();
    }
}

void on_message(Replica& replica, std::string_view text) {
    auto end = text.find(line_end);
    while (end != std::string_view::npos) {
        on_line(replica, text.substr(0, end));
        text.remove_prefix(end + 1);
        end = text.find(line_end);
    }
    on_line(replica, text);
}

}  // namespace

std::list<std::string> take_announcements(const CounterSet& counters, const ReplicaSlot& slot,
                                          bool older_version) {
    std::list<std::string> messages;
    std::string together;
    std::size_t size = 0;
    for (auto* state : counters.busy()) {
        if (size >= message_size_max) break;
        if (!state->news.take_due()) continue;
        // A row without a base is announced once a commit has found its base.
        if (!state->own_row.based()) continue;
        auto line = format_message({Message::Kind::totals,
                                    state->key,
                                    slot.row(),
                                    {slot.epoch(), state->own_row.attempted()}});
        size += line.size();
        if (older_version || state->row_cache.has_older_version()) {
            messages.push_back(std::move(line));
            continue;
        }
        if (!together.empty()) together += line_end;
        together += line;
    }
    if (!together.empty()) messages.push_back(std::move(together));
    return messages;
}

void post(Replica& replica, const std::list<std::string>& messages) {
    if (messages.empty()) return;
    // A channel receives what is posted while it is open, so that a tab that does not listen opens
    // one for the messages of this call only.
    const auto brief =
        replica.news.listening() ? nullptr : replica.world.channel(replica.names.channel());
    auto* const channel = brief ? brief.get() : replica.news.channel();
    if (channel == nullptr) return;
    for (const auto& message : messages) channel->post(message);
}

void listen(Replica& replica) {
    auto channel = replica.world.channel(replica.names.channel());
    if (channel) {
        channel->on_message([&replica](std::string_view text) { on_message(replica, text); });
    }
    replica.news.listen(std::move(channel));
}

void follow(Replica& replica, CounterState& state) {
    if (replica.closed() || !state.news.follow()) return;
    state.reads.request_first();
    replica.counters.touch(state);
    if (!replica.news.listening()) listen(replica);
    replica.schedule_turn();
}

void announce_at_once(Replica& replica) {
    mark_committed(replica.counters);
    for (auto messages = take_announcements(replica); !messages.empty();
         messages = take_announcements(replica)) {
        post(replica, messages);
    }
}

void start_announcing(Replica& replica) {
    if (!replica.news.announcing()) replica.scope.spawn(announce_loop(replica));
}

void start_reminding(Replica& replica) {
    if (!replica.news.reminding()) replica.scope.spawn(remind(replica));
}

}  // namespace tabacus
