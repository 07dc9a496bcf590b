#include "replica.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/concat.hpp"

namespace tabacus {

Replica::Replica(World& world, const Names& names, Medium medium, NoticeHandler on_notice,
                 std::string data_loss)
    : world_(world),
      names_(names),
      medium_(medium),
      on_notice_(std::move(on_notice)),
      backup_(world, names_),
      data_loss_(std::move(data_loss)) {
    if (medium_ != Medium::database) {
        row_ = concat({medium_ == Medium::storage ? "local/" : "memory/",
                       identifier_of(world_.random().bits())});
        row_epoch_ = 1;
    }
    open_channel();
    lifecycle_ = world_.lifecycle().on_event([this](LifecycleEvent event) { on_lifecycle(event); });
    database_ =
        world_.database().on_event([this](const DatabaseEvent& event) { on_database(event); });
}

CounterState& Replica::counter(std::string_view name, Durability durability) {
    const auto key = escaped(name);
    const auto found = std::find_if(counters_.begin(), counters_.end(),
                                    [&](const auto& state) { return state.key == key; });
    if (found != counters_.end()) {
        // Strict for one handle is strict for the row that all handles share.
        found->durability = std::max(found->durability, durability);
        return *found;
    }
    auto& state = counters_.emplace_back();
    state.key = key;
    state.durability = durability;
    state.based = medium_ != Medium::database;
    if (!turn_scheduled_) schedule_turn();
    return state;
}

// --- Counting ----------------------------------------------------------------------------------

bool Replica::add_own(CounterState& state, std::int64_t n) {
    const auto value = state.value + n;
    if (value > value_max || value < -value_max) return false;
    auto& total = n < 0 ? state.attempted.minus : state.attempted.plus;
    const auto amount = n < 0 ? -n : n;
    if (amount > total_max - total) return false;
    total += amount;
    state.value = value;
    return true;
}

void Replica::revalue(CounterState& state) {
    const auto value = saturating_add(state.row_cache.sum(), state.own());
    if (value == state.value) return;
    state.value = value;
    state.changed = true;
    if (!turn_scheduled_) schedule_turn();
}

void Replica::schedule_turn() {
    turn_scheduled_ = true;
    scope_.spawn(turn());
}

Task<void> Replica::turn() {
    co_await world_.clock().end_of_turn();
    turn_scheduled_ = false;
    call_subscribers();
    if (closed_) co_return;
    // Not when the counter is made: who makes it adds to it next, and need not wait for a
    // transaction to be begun.
    for (auto& state : counters_) {
        if (state.unread) scope_.spawn(reload(state));
    }
    // News first: what other tabs see need not wait for the disk.
    if (!announcing_) scope_.spawn(announce_loop());
    if (!committing_ && dirty()) scope_.spawn(commit_loop());
}

void Replica::call_subscribers() {
    for (auto& state : counters_) {
        if (std::exchange(state.changed, false)) state.change_listeners.call();
    }
}

Task<void> Replica::close() {
    std::optional<Error> failure;
    for (auto& state : counters_) {
        if (suspended_) break;
        const auto flushed = co_await attempt(flush(state));
        if (!flushed) failure = flushed.error();
    }
    closed_ = true;
    fail_waiters(Error(ErrorCode::closed, "the tab was closed before the commit"));
    hide();
    lifecycle_ = {};
    database_ = {};
    if (failure) co_await fail(*failure);
}

// --- Lifecycle (docs/decisions/0009) -------------------------------------------------------------

void Replica::on_lifecycle(LifecycleEvent event) {
    if (closed_) return;
    switch (event) {
        case LifecycleEvent::hidden:
        case LifecycleEvent::frozen:
            commit_before_sleep();
            break;
        case LifecycleEvent::page_hide:
            commit_before_sleep();
            hide();
            world_.database().close();
            break;
        case LifecycleEvent::page_show:
            show();
            break;
        case LifecycleEvent::visible:
        case LifecycleEvent::resumed:
            if (!suspended_) reload_all();
            break;
    }
}

void Replica::on_database(const DatabaseEvent& event) {
    if (event.kind == DatabaseEvent::Kind::created) {
        data_loss_ = event.data_loss;
        return;
    }
    if (closed_ || suspended_ || medium_ != Medium::database) return;
    // What comes back may be another database: adopting anew reports that, and recovers its rows.
    lose_slot();
    reload_all();
}

/// Issues the last commit without waiting for anything: no callback will run in a page that goes.
void Replica::commit_before_sleep() {
    // What was committed within the last pause of announce_loop() is announced here, or not at all.
    announce();
    if (medium_ != Medium::database || !holder_ || !dirty()) return;
    scope_.spawn([](Replica& self) -> Task<void> {
        // Should it fail, the increments stay pending.
        (void)co_await attempt(self.commit_rows());
        self.rest_soon();
    }(*this));
}

/// Lets go of what would keep the page out of the back/forward cache, or others waiting.
void Replica::hide() {
    suspended_ = true;
    lose_slot();
    slot_lock_.reset();
    channel_.reset();
}

void Replica::show() {
    suspended_ = false;
    open_channel();
    reload_all();
    if (dirty()) schedule_turn();
}

// --- Notices -----------------------------------------------------------------------------------

void Replica::warn(std::string_view code, std::string_view message, std::string_view subject) {
    on_notice_({Notice::Kind::warning, std::string(code), std::string(message),
                std::string(subject), "", 0});
}

void Replica::warn(const Error& failure, std::string_view subject) {
    on_notice_(
        {Notice::Kind::warning, "", failure.what(), std::string(subject), "", 0, failure.code()});
}

/// Warns once of each record, however often it is met.
void Replica::warn_unreadable(std::string_view where, std::string_view key) {
    const auto subject = concat({where, " ", key});
    if (std::find(unreadable_.begin(), unreadable_.end(), subject) != unreadable_.end()) return;
    unreadable_.push_back(subject);
    warn("corrupt-record", "A record that cannot be read was set aside; all others count.",
         subject);
}

}  // namespace tabacus
