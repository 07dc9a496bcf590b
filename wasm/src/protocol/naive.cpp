#include "naive.hpp"

#include <utility>

#include "checked_add.hpp"
#include "record.hpp"

namespace tabacus {

NaiveCounter::NaiveCounter(Place place, std::string_view strategy)
    : StoredCounter(std::move(place)),
      key_(this->place().names.counter(strategy, this->place().name)) {
    changes_ = world().storage().on_change([this](const StorageChange& change) {
        if (change.key && *change.key != key_) return;
        // A key that was removed, or cleared with all others, is what a read counts as zero.
        if (const auto value = change.new_value ? parse_value(*change.new_value) : 0) see(*value);
    });
}

Task<std::int64_t> NaiveCounter::store(std::int64_t n) {
    const auto current = co_await parse_or_set_aside(co_await world().storage().get(key_));
    if (!current) {
        co_await fail(ErrorCode::quota_exceeded, "there is no room to set aside what is no number");
    }
    const auto next = co_await checked_add(*current, n);
    co_await world().storage().set(key_, format_value(next));
    see(next);
    co_return next;
}

Task<std::int64_t> NaiveCounter::read() {
    const auto value = co_await parse_or_set_aside(co_await world().storage().get(key_));
    see(value.value_or(0));
    co_return value.value_or(0);
}

Guarantee NaiveCounter::guarantee() const {
    return {.strategy = "naive",
            .lost = "concurrent updates",
            .reads_wait = "never",
            .accuracy = "other tabs' increments arrive late or never",
            .rows = "one key",
            .needs = "storage",
            .durability = "relaxed",
            .losses = {.lost = {lost_with_storage, always, always}, .exceeded = {}}};
}

/// A foreign value is kept under a key of its own, and the count begins again at zero. Nothing: it
/// could not be moved there, and is not to be written over.
Task<std::optional<std::int64_t>> NaiveCounter::parse_or_set_aside(
    std::optional<std::string> text) {
    if (!text) co_return 0;
    const auto value = parse_value(*text);
    if (value) co_return value;
    const bool moved =
        co_await set_aside(key_, key_ + "/aside", *text,
                           "A value that is not a number is set aside; the count begins at zero.");
    if (moved) co_return 0;
    co_return std::nullopt;
}

}  // namespace tabacus
