#include "stored_counter.hpp"

#include <limits>
#include <utility>

namespace tabacus {
namespace {

/// Between two looks at the store: what an eye sees as at once, and no burden to who adds.
constexpr double look_pause_ms = 50;

}  // namespace

Task<std::int64_t> StoredCounter::add(std::int64_t n) {
    const auto number = ++last_add_;
    adding_.push_back(number);
    auto stored = co_await attempt(store(n));
    ended(number);
    if (!stored) co_await fail(stored.error());
    if (in_store_once_added()) tell_others();
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

Subscription StoredCounter::on_change(std::function<void()> callback) {
    const bool first = watchers_.empty();
    auto subscription = watchers_.add(std::move(callback));
    if (first && place_.listen_to_others) place_.listen_to_others();
    if (first) look_again();
    return subscription;
}

void StoredCounter::see(std::int64_t value) {
    if (std::exchange(last_seen_, value) == value || watchers_.empty()) return;
    if (!std::exchange(telling_, true)) scope_.spawn(tell());
}

/// Not from within: a callback may add.
Task<void> StoredCounter::tell() {
    co_await world().clock().end_of_turn();
    telling_ = false;
    watchers_.call();
}

void StoredCounter::look_again() {
    stale_ = true;
    if (!watchers_.empty() && !std::exchange(looking_, true)) scope_.spawn(look());
}

/// A store that fails is met again by add() and read(), which tell.
Task<void> StoredCounter::look() {
    while (std::exchange(stale_, false)) {
        static_cast<void>(co_await attempt(read()));
        co_await world().clock().sleep(look_pause_ms);
    }
    looking_ = false;
}

Task<void> StoredCounter::set_aside(std::string key, std::string to, std::string text,
                                    const char* message) {
    const auto moved = co_await attempt(move(key, std::move(to), std::move(text)));
    if (moved || stays_.insert(key).second) warn_corrupt(key, message);
    if (!moved) co_await fail(moved.error());
}

Task<void> StoredCounter::move(std::string from, std::string to, std::string text) {
    co_await world().storage().set(to, text);
    co_await world().storage().remove(from);
}

}  // namespace tabacus
