#include "store_loss_detector.hpp"

#include <utility>

#include "record.hpp"

namespace tabacus {
namespace {

constexpr std::string_view meta_key = "database";

// A browser that clears an origin's data may refuse for a while to open a database, so the check is
// repeated, each time after a longer pause.
constexpr double first_pause_ms = 1'000;
constexpr double pause_factor = 4;
constexpr double last_pause_ms = 64'000;

}  // namespace

void StoreLossDetector::start() {
    if (!world_.database().available() || std::exchange(started_, true)) return;
    events_ = world_.database().on_event([this](const DatabaseEvent&) { check(); });
    lifecycle_ = world_.lifecycle().on_event([this](LifecycleEvent event) { on_lifecycle(event); });
    listen();
    check();
}

void StoreLossDetector::stop() {
    stopped_ = true;
    events_ = {};
    lifecycle_ = {};
    channel_.reset();
}

/// Listens for other tabs that have noticed a loss. A message only starts a check.
void StoreLossDetector::listen() {
    channel_ = world_.channel(names_.store_channel());
    if (!channel_) return;
    channel_->on_message([this](std::string_view found) {
        if (found != known_) check();
    });
}

void StoreLossDetector::on_lifecycle(LifecycleEvent event) {
    if (event == LifecycleEvent::page_hide) channel_.reset();
    const bool back = event == LifecycleEvent::page_show || event == LifecycleEvent::resumed;
    if (back && !channel_) listen();
    if (back || event == LifecycleEvent::visible) check();
}

void StoreLossDetector::check() {
    stale_ = true;
    if (!std::exchange(checking_, true)) scope_.spawn(check_until_done());
}

Task<void> StoreLossDetector::check_until_done() {
    // The owner of this object may still be in its constructor, and cannot take a notice yet.
    co_await world_.clock().end_of_turn();
    auto pause_ms = first_pause_ms;
    while (!stopped_ && std::exchange(stale_, false)) {
        if (co_await attempt(compare())) continue;
        // After the last pause the check is given up: add(), read() and other calls report the
        // failure.
        if (stopped_ || pause_ms > last_pause_ms) break;
        co_await world_.clock().sleep(pause_ms);
        pause_ms *= pause_factor;
        stale_ = true;
    }
    checking_ = false;
}

Task<void> StoreLossDetector::compare() {
    const bool remembers = world_.storage().available();
    if (known_.empty() && remembers) {
        auto remembered = co_await world_.storage().get(names_.database_generation());
        if (remembered && is_identifier(*remembered)) known_ = std::move(*remembered);
    }
    constexpr Stores scope{Store::meta};
    const auto transaction =
        co_await world_.database().begin(scope, Access::write, Durability::relaxed);
    const auto row = co_await transaction->get(Store::meta, meta_key);
    const bool readable = row && !row->foreign && is_identifier(row->value);
    // If another script overwrote the row, the database is still the same one.
    const auto found = readable                 ? row->value
                       : row && !known_.empty() ? known_
                                                : identifier_of(world_.random().bits());
    if (!readable) transaction->put(Store::meta, meta_key, found);
    co_await transaction->commit();

    const auto previous = std::exchange(known_, found);
    const bool known_here = std::exchange(compared_, true);
    if (previous == found) {
        if (!known_here) co_await settle(false);
        co_return;
    }
    if (remembers) {
        static_cast<void>(
            co_await attempt(world_.storage().set(names_.database_generation(), found)));
    }
    const bool vanished = known_here && !previous.empty();
    if (vanished && user_ != nullptr) user_->store_vanished();
    if (!previous.empty()) notify(found, previous);
    co_await settle(vanished);
}

/// Notifies the other tabs, which may have no connection that the browser closes.
void StoreLossDetector::notify(const std::string& found, const std::string& previous) const {
    if (channel_) channel_->post(found);
    on_notice_({Notice::Kind::store_lost, "generation-changed",
                "The database vanished; what was in it is gone.", found, previous, 0});
}

/// Probes the lock manager after a loss. Does so before the first use, too, because the loss may
/// have been earlier; then the host answers at once if the database was never closed. Leases need
/// no probe, because they are in the database, which new documents share.
Task<void> StoreLossDetector::settle(bool vanished) {
    if (user_ == nullptr) co_return;
    const bool shared =
        !world_.locks().available() || static_cast<bool>(co_await attempt(world_.locks().probe()));
    cut_off_ |= !shared;
    if (!stopped_ && (vanished || !shared)) user_->store_settled(shared);
}

}  // namespace tabacus
