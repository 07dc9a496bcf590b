#include "entry_log.hpp"

#include <utility>

#include "checked_add.hpp"
#include "stored_record.hpp"

namespace tabacus {
namespace {

constexpr std::string_view entry_tag = "entry";
constexpr std::string_view fold_tag = "fold";

}  // namespace

std::string format_log_key(const LogKey& key) {
    const auto tag = key.kind == LogKey::Kind::entry ? entry_tag : fold_tag;
    return std::string(tag) + '/' + key.tab + '/' + format_value(key.number);
}

std::optional<LogKey> parse_log_key(std::string_view text) {
    const auto parts = parts_of<3>(text, '/');
    if (!parts) return std::nullopt;
    const auto& [tag, tab, digits] = *parts;
    const auto number = parse_value(digits);
    if ((tag != entry_tag && tag != fold_tag) || !is_identifier(tab)) return std::nullopt;
    if (!number || *number < 1) return std::nullopt;
    const auto kind = tag == entry_tag ? LogKey::Kind::entry : LogKey::Kind::fold;
    return LogKey{kind, std::string(tab), *number};
}

std::string format_log_record(LogRecord record) {
    return format_record({format_value(record.amount), format_value(record.time_ms)});
}

std::optional<LogRecord> parse_log_record(std::string_view text) {
    const auto fields = record_fields<2>(text);
    const auto amount = fields ? parse_value(fields->front()) : std::nullopt;
    const auto time_ms = fields ? parse_value(fields->back()) : std::nullopt;
    if (!amount || !time_ms) return std::nullopt;
    return LogRecord{*amount, *time_ms};
}

std::pair<std::int64_t, LogRecord> EntryLog::Tab::fold() const {
    if (folds.empty()) return {};
    return *folds.rbegin();
}

void EntryLog::put(const LogKey& key, LogRecord record) {
    auto& tab = tabs_[key.tab];
    if (key.kind == LogKey::Kind::fold) {
        tab.folds.insert_or_assign(key.number, record);
        return recount(tab);
    }
    const bool known = !tab.entries.insert_or_assign(key.number, record).second;
    if (known) return recount(tab);
    if (key.number <= tab.fold().first) return;
    tab.sum = bounded_add(tab.sum, record.amount);
    sum_ = bounded_add(sum_, record.amount);
}

void EntryLog::recount(Tab& tab) {
    const auto [covered, fold] = tab.fold();
    auto sum = fold.amount;
    for (auto entry = tab.entries.upper_bound(covered); entry != tab.entries.end(); ++entry) {
        sum = bounded_add(sum, entry->second.amount);
    }
    sum_ = bounded_add(sum_, sum - std::exchange(tab.sum, sum));
}

void EntryLog::forget_covered(const LogKey& key) {
    const auto found = tabs_.find(key.tab);
    if (found == tabs_.end()) return;
    auto& tab = found->second;
    const auto covered = tab.fold().first;
    if (key.kind == LogKey::Kind::entry && key.number <= covered) tab.entries.erase(key.number);
    if (key.kind == LogKey::Kind::fold && key.number < covered) tab.folds.erase(key.number);
}

void EntryLog::take_newer(const EntryLog& other, std::string_view tab, std::int64_t after) {
    const auto found = other.tabs_.find(tab);
    if (found == other.tabs_.end()) return;
    const auto& entries = found->second.entries;
    for (auto entry = entries.upper_bound(after); entry != entries.end(); ++entry) {
        put({LogKey::Kind::entry, std::string(tab), entry->first}, entry->second);
    }
}

}  // namespace tabacus
