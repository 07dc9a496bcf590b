#include "naive.hpp"

#include <utility>

#include "checked_add.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

NaiveCounter::NaiveCounter(CounterLocation location, std::string_view strategy)
    : StoredCounter(std::move(location)),
      key_(this->location().names.counter(strategy, this->location().name)) {
    changes_ = world().storage().on_change(
        this->location().names.root(), [this](const StorageChange& change) {
            if (change.key && *change.key != key_) return;
            // A missing key counts as zero: it was removed, or the whole area was cleared.
            if (const auto value = change.new_value ? parse_value(*change.new_value) : 0)
                see(*value);
        });
}

Task<std::int64_t> NaiveCounter::store(std::int64_t n) {
    const auto current = co_await parse_or_quarantine(co_await world().storage().get(key_));
    const auto next = co_await checked_add(current, n);
    co_await world().storage().set(key_, format_value(next));
    see(next);
    co_return next;
}

Task<std::int64_t> NaiveCounter::read() {
    auto text = co_await world().storage().get(key_);
    // A text that is not a number counts as zero, even if it cannot be moved.
    auto parsed = co_await attempt(parse_or_quarantine(std::move(text)));
    if (!parsed && parsed.error().code() == ErrorCode::version_mismatch) {
        co_await fail(parsed.error());
    }
    const auto value = parsed ? parsed.value() : 0;
    see(value);
    co_return value;
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

/// Returns the value, 0 if there is none. A text that is not a number is moved to quarantine and
/// counts as 0. Fails as quarantine() does.
Task<std::int64_t> NaiveCounter::parse_or_quarantine(std::optional<std::string> text) {
    if (!text) co_return 0;
    if (const auto value = parse_value(*text)) co_return *value;
    co_await quarantine(key_, key_ + "/aside", *text,
                        "A value that is not a number is set aside; the count begins at zero.");
    co_return 0;
}

}  // namespace tabacus
