#include "eventual.hpp"

#include <algorithm>
#include <array>

#include "checked_add.hpp"
#include "stored_record.hpp"

namespace tabacus {
namespace {

constexpr std::string_view news_suffix = "/news";

std::optional<std::int64_t> parse_total(std::string_view text) {
    return parse_decimal(text, 0, total_max);
}

}  // namespace

EventualCounter::EventualCounter(CounterLocation location) : StoredCounter(std::move(location)) {
    const auto key = this->location().names.counter("eventual", this->location().name);
    plus_.key = key + "/plus";
    minus_.key = key + "/minus";
    changes_ = world().storage().on_change(
        this->location().names.root(), [this](const StorageChange& change) { on_storage(change); });
    scope_.spawn(start());
}

/// Reads the first values. Ignores a failure, because add() and read() report it.
Task<void> EventualCounter::start() { static_cast<void>(co_await attempt(read())); }

Task<std::int64_t> EventualCounter::store(std::int64_t n) {
    auto& total = n < 0 ? minus_ : plus_;
    const auto amount = n < 0 ? -n : n;
    if (auto foreign = co_await adopt(total))
        co_await quarantine_total(total.key, std::move(*foreign));
    co_await checked_add(plus_.value - minus_.value, n);
    const auto before = total.value;
    total.value = std::min(before + amount, total_max);
    const auto kept =
        co_await attempt(world().storage().set(total.key, format_decimal(total.value)));
    if (!kept) {
        total.value = std::max<std::int64_t>(total.value - amount, 0);
        co_await fail(kept.error());
    }
    // If the news cannot be stored, other tabs learn of the increment from the total.
    static_cast<void>(co_await attempt(world().storage().set(
        total.key + std::string(news_suffix),
        format_record({format_decimal(before), format_decimal(amount), stamp()}))));
    see_both();
    co_return value();
}

Task<std::int64_t> EventualCounter::read() {
    for (auto* total : {&plus_, &minus_}) {
        auto foreign = co_await adopt(*total);
        // A foreign text counts as zero, even if it cannot be moved.
        if (foreign) co_await warn_and_fail_if_newer(total->key, *foreign);
        if (foreign) (void)co_await attempt(quarantine_total(total->key, std::move(*foreign)));
    }
    see_both();
    co_return value();
}

/// Reads the stored total, and makes it the baseline if it is the first or larger than the known
/// value. Returns the stored text if it is not a total.
Task<std::optional<std::string>> EventualCounter::adopt(Total& total) {
    auto text = co_await world().storage().get(total.key);
    const auto stored = text ? parse_total(*text) : 0;
    const auto known = stored.value_or(0);
    if (!total.started || known > total.value) total.baseline = total.value = known;
    total.started = true;
    if (stored) co_return std::nullopt;
    co_return std::move(text);
}

Task<void> EventualCounter::quarantine_total(std::string key, std::string text) {
    return quarantine(key, key + "/aside", std::move(text),
                      "A total that is not a number is set aside.");
}

void EventualCounter::on_storage(const StorageChange& change) {
    if (!change.key || !change.new_value) return;
    for (auto* total : {&plus_, &minus_}) {
        if (*change.key == total->key + std::string(news_suffix))
            apply_news(*total, *change.new_value);
    }
}

/// Adds an announced increment. Ignores news that cannot be read, because the stored total includes
/// the increment.
void EventualCounter::apply_news(Total& total, std::string_view news) {
    const auto fields = record_fields<3>(news);
    const auto before = fields ? parse_total((*fields)[0]) : std::nullopt;
    const auto amount = fields ? parse_total((*fields)[1]) : std::nullopt;
    if (!before || !amount || !has_baseline(total) || *before < total.baseline) return;
    total.value = std::min(total.value + *amount, total_max);
    see_both();
    scope_.spawn(write_back(total));
}

Task<void> EventualCounter::write_back(Total& total) {
    auto text = co_await attempt(world().storage().get(total.key));
    if (!text) co_return;
    if (parse_total(text.value().value_or("0")).value_or(total_max) >= total.value) co_return;
    // If this fails, the next add() writes the total.
    static_cast<void>(
        co_await attempt(world().storage().set(total.key, format_decimal(total.value))));
}

std::string EventualCounter::stamp() { return identifier_of(world().random().bits()); }

Guarantee EventualCounter::guarantee() const {
    // If a total is cleared, a tab that still has it writes it again. That is why a storage fault
    // can also make the value too large.
    return {.strategy = "eventual",
            .lost = "concurrent updates that cross a read; unannounced updates with their tab",
            .reads_wait = "never",
            .accuracy = "other tabs' increments arrive late, and seldom twice",
            .rows = "two keys for increments, two for decrements",
            .needs = "storage",
            .durability = "relaxed",
            .losses = {.lost = {lost_with_storage, always, always},
                       .exceeded = {lost_with_storage, always, always}}};
}

}  // namespace tabacus
