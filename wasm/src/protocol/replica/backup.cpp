#include "backup.hpp"

#include <utility>

namespace tabacus {

std::optional<RowKey> parse_row_key(std::string_view key) {
    const auto counter_end = key.find('/');
    if (counter_end == 0 || counter_end == std::string_view::npos) return std::nullopt;
    const auto row = key.substr(counter_end + 1);
    if (!is_row_id(row)) return std::nullopt;
    return RowKey{key.substr(0, counter_end), row, row.substr(0, row.find('/'))};
}

Task<std::list<BackupRow>> Backup::rows_of_others(std::string_view generation) {
    std::list<BackupRow> rows;
    if (!storage_.available()) co_return rows;
    const auto root = names_.stored_row("");
    auto keys = co_await attempt(storage_.keys(root));
    if (!keys) co_return rows;
    std::size_t size = 0;
    for (const auto& key : keys.value()) {
        size += key.size() + backup_value_size;
        const auto row = std::string_view(key).substr(root.size());
        const auto parts = parse_row_key(row);
        if (!parts || parts->generation == generation) continue;
        auto text = co_await attempt(get(row));
        if (text && text.value()) rows.push_back({std::string(row), *std::move(text.value())});
    }
    room_ = size < backup_max ? backup_max - size : 0;
    co_return rows;
}

bool Backup::take_room(const std::string& row) {
    if (!storage_.available()) return true;
    const auto size = names_.stored_row(row).size() + backup_value_size;
    if (room_ < size) return false;
    room_ -= size;
    return true;
}

Async<Backup::Text> Backup::get(std::string_view row) { return read(names_.stored_row(row)); }
Async<Backup::Text> Backup::generation() { return read(names_.generation()); }

Async<Unit> Backup::put(std::string_view row, TotalsRecord record) {
    return write(names_.stored_row(row), format_totals(record));
}
Async<Unit> Backup::set_generation(std::string_view generation) {
    if (generation_kept_) return Unit{};
    return write(names_.generation(), generation);
}

Async<Backup::Text> Backup::read(std::string_view key) {
    if (!storage_.available()) return Text();
    return storage_.get(key);
}

Async<Unit> Backup::write(std::string_view key, std::string_view value) {
    if (!storage_.available()) return Unit{};
    return storage_.set(key, value);
}

std::optional<TotalsRecord> Backup::parsed(Outcome<Text> text) {
    if (!text || !text.value()) return std::nullopt;
    return parse_totals(*text.value());
}

std::string Backup::parsed_generation(Outcome<Text> text) {
    if (!text || !text.value() || !is_identifier(*text.value())) return "";
    return *std::move(text.value());
}

}  // namespace tabacus
