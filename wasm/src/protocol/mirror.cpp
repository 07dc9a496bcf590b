#include "mirror.hpp"

namespace tabacus {

std::optional<RowKey> parse_row_key(std::string_view key) {
    const auto counter_end = key.find('/');
    if (counter_end == 0 || counter_end == std::string_view::npos) return std::nullopt;
    const auto row = key.substr(counter_end + 1);
    if (!is_row_id(row)) return std::nullopt;
    return RowKey{key.substr(0, counter_end), row, row.substr(0, row.find('/'))};
}

Task<std::vector<Mirror::Entry>> Mirror::entries(std::string_view prefix) {
    std::vector<Entry> entries;
    if (!available()) co_return entries;
    const auto root = names_.mirror("");
    auto keys = co_await attempt(storage_.keys(names_.mirror(prefix)));
    if (!keys) co_return entries;
    for (const auto& key : keys.value()) {
        const auto row = key.substr(root.size());
        const auto record = co_await get(row);
        if (parse_row_key(row) && record) entries.push_back({row, *record});
    }
    co_return entries;
}

Task<std::optional<TotalsRecord>> Mirror::get(std::string_view row) {
    if (!available()) co_return std::nullopt;
    auto text = co_await attempt(storage_.get(names_.mirror(row)));
    if (!text || !text.value()) co_return std::nullopt;
    co_return parse_totals(*text.value());
}

Task<void> Mirror::put(std::string_view row, TotalsRecord record) {
    if (!available()) co_return;
    (void)co_await attempt(storage_.set(names_.mirror(row), format_totals(record)));
}

Task<std::string> Mirror::generation() {
    if (!available()) co_return "";
    auto text = co_await attempt(storage_.get(names_.generation()));
    if (!text || !text.value() || !is_identifier(*text.value())) co_return "";
    co_return *text.value();
}

Task<void> Mirror::set_generation(std::string_view generation) {
    if (!available()) co_return;
    (void)co_await attempt(storage_.set(names_.generation(), generation));
}

}  // namespace tabacus
