#include "departures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "lease/lease_times.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// More departures than any tab needs while it waits.
constexpr std::size_t departures_known_max = 1'024;
/// How many departures of a lock are read from localStorage.
constexpr std::size_t departures_read_max = 512;

}  // namespace

void Departures::note(const std::vector<std::string>& ids) {
    if (ids_.size() + ids.size() > departures_known_max) ids_.clear();
    for (const auto& id : ids) {
        if (is_identifier(id)) ids_.insert(id);
    }
}

Task<bool> Departures::read(std::string key, std::vector<std::string>& rows) {
    const auto prefix = names_.lock_departure(key, "");
    auto keys = co_await attempt(world_.storage().keys(prefix));
    if (!keys) co_return false;
    rows = std::move(keys.value());
    while (rows.size() > departures_read_max) rows.pop_back();
    bool news = false;
    for (const auto& row : rows) {
        const auto id = row.substr(prefix.size());
        news |= is_identifier(id) && !contains(id);
        note({id});
    }
    co_return news;
}

Task<void> Departures::remove(std::vector<std::string> rows) {
    for (const auto& row : rows) {
        (void)co_await attempt(world_.storage().remove(row));
    }
}

Task<void> Departures::sweep() {
    if (std::exchange(swept_, true)) co_return;
    auto& storage = world_.storage();
    const auto now_ms = world_.clock().now_ms();
    auto keys = co_await attempt(storage.keys(names_.lock_departures()));
    if (!keys) co_return;
    std::vector<std::string> old;
    for (const auto& key : keys.value()) {
        auto text = co_await attempt(storage.get(key));
        const auto left_ms = text && text.value() ? parse_value(*text.value()) : std::nullopt;
        const bool recent = left_ms && std::abs(now_ms - static_cast<double>(*left_ms)) <
                                           static_cast<double>(lease_hidden_ms);
        if (!recent) old.push_back(key);
    }
    co_await remove(std::move(old));
}

Task<void> Departures::store(std::string key, std::string id) {
    const auto now_ms = std::clamp(world_.clock().now_ms(), 0.0, 0x1p52);
    (void)co_await attempt(world_.storage().set(names_.lock_departure(key, id),
                                                format_decimal(static_cast<std::int64_t>(now_ms))));
}

}  // namespace tabacus
