#include "naive.hpp"

#include <utility>

#include "checked_add.hpp"
#include "record.hpp"

namespace tabacus {

NaiveCounter::NaiveCounter(World& world, std::string key, NoticeHandler on_notice)
    : world_(world), key_(std::move(key)), on_notice_(std::move(on_notice)) {
    changes_ = world_.storage().on_change([this](const StorageChange& change) {
        if (change.key != key_ || !change.new_value) return;
        if (const auto value = parse_value(*change.new_value)) see(*value);
    });
}

Task<std::int64_t> NaiveCounter::add(std::int64_t n) {
    const auto current = co_await parse_or_set_aside(co_await world_.storage().get(key_));
    const auto next = co_await checked_add(current, n);
    co_await world_.storage().set(key_, format_value(next));
    see(next);
    co_return next;
}

Task<std::int64_t> NaiveCounter::read() {
    const auto value = co_await parse_or_set_aside(co_await world_.storage().get(key_));
    see(value);
    co_return value;
}

Task<void> NaiveCounter::flush() { co_return; }  // setItem is all there is

Subscription NaiveCounter::on_change(std::function<void()> callback) {
    return watchers_.add(std::move(callback));
}

Guarantee NaiveCounter::guarantee() const {
    return {.strategy = "naive",
            .lost = "concurrent updates",
            .reads_wait = "never",
            .accuracy = "other tabs' increments arrive late or never",
            .rows = "one key",
            .needs = "storage",
            .durability = "relaxed"};
}

/// A foreign value is kept under a key of its own, and the count begins again at zero.
Task<std::int64_t> NaiveCounter::parse_or_set_aside(std::optional<std::string> text) {
    if (!text) co_return 0;
    if (const auto value = parse_value(*text)) co_return *value;
    co_await world_.storage().set(key_ + "/aside", *text);
    co_await world_.storage().remove(key_);
    on_notice_({Notice::Kind::warning, "corrupt-record",
                "A value that is not a number was set aside; the count begins at zero.", key_, "",
                0});
    co_return 0;
}

void NaiveCounter::see(std::int64_t value) {
    if (std::exchange(last_seen_, value) != value) watchers_.call();
}

}  // namespace tabacus
