#include "stored_counter.hpp"

#include <limits>
#include <utility>

#include "protocol/common/record.hpp"
#include "protocol/common/store_loss_detector.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus {
namespace {

/// The pause between two reads of the store for watchers: too short for people to notice, and long
/// enough not to slow down adds.
constexpr double refresh_pause_ms = 50;

}  // namespace

Task<std::int64_t> StoredCounter::add(std::int64_t n) {
    const auto number = ++last_add_;
    adding_.push_back(number);
    auto stored = co_await attempt(store(n));
    ended(number);
    if (!stored) co_await fail(stored.error());
    if (in_store_once_added()) notify_others();
    co_return stored.value();
}

Task<void> StoredCounter::flush() {
    if (adding_.empty()) co_return;
    const Completer<Unit> done;
    waiters_.push_back({last_add_, done});
    co_await done.async();
}

void StoredCounter::ended(std::uint64_t add) {
    adding_.remove(add);
    const auto oldest =
        adding_.empty() ? std::numeric_limits<std::uint64_t>::max() : adding_.front();
    std::list<Waiter> served;
    for (auto waiter = waiters_.begin(); waiter != waiters_.end();) {
        const auto next = std::next(waiter);
        if (waiter->target < oldest) served.splice(served.end(), waiters_, waiter);
        waiter = next;
    }
    for (const auto& waiter : served) waiter.done.complete({});
}

Subscription StoredCounter::on_change(Function<void()> callback) {
    const bool first = change_listeners_.empty();
    auto subscription = change_listeners_.add(std::move(callback));
    if (first && location_.listen_to_others) location_.listen_to_others();
    if (first) refresh();
    return subscription;
}

void StoredCounter::see(std::int64_t value) {
    if (std::exchange(last_seen_, value) == value || change_listeners_.empty()) return;
    if (!std::exchange(notifying_, true)) scope_.spawn(notify_watchers());
}

/// Calls the watchers at the end of the turn, not inside see(), because a callback may call add().
Task<void> StoredCounter::notify_watchers() {
    co_await world().clock().end_of_turn();
    notifying_ = false;
    change_listeners_.call();
}

void StoredCounter::refresh() {
    stale_ = true;
    if (!change_listeners_.empty() && !std::exchange(refreshing_, true))
        scope_.spawn(refresh_until_done());
}

/// Reads until no other tab has added during the pause. Ignores a failure, because add() and read()
/// report it.
Task<void> StoredCounter::refresh_until_done() {
    while (std::exchange(stale_, false)) {
        static_cast<void>(co_await attempt(read()));
        co_await world().clock().sleep(refresh_pause_ms);
    }
    refreshing_ = false;
}

bool StoredCounter::cut_off() const {
    return location_.loss_detector != nullptr && location_.loss_detector->cut_off();
}

Task<void> StoredCounter::warn_and_fail_if_newer(std::string key, std::string text) const {
    if (!is_newer(text)) co_return;
    const auto error = newer_record(key);
    location_.on_notice({Notice::Kind::warning, "", error.what(), key, "", 0, error.code()});
    co_await fail(error);
}

Task<void> StoredCounter::quarantine(std::string key, std::string to, std::string text,
                                     const char* message) {
    co_await warn_and_fail_if_newer(key, text);
    const auto moved = co_await attempt(move(key, std::move(to), std::move(text)));
    if (moved || stays_.insert(key).second) warn_corrupt(key, message);
    if (!moved) co_await fail(moved.error());
}

Task<void> StoredCounter::move(std::string from, std::string to, std::string text) {
    co_await world().storage().set(to, text);
    co_await world().storage().remove(from);
}

}  // namespace tabacus
