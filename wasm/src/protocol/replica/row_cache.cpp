#include "row_cache.hpp"

#include <algorithm>

namespace tabacus {

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    // Both lie within ±total_max < 2^62, so that the sum fits.
    return std::clamp(a + b, -total_max, total_max);
}

bool RowCache::Entry::ahead_of_store() const { return believed() != committed.totals; }

Totals RowCache::Entry::believed() const {
    if (announced.epoch > committed.epoch) return announced.totals;
    if (announced.epoch < committed.epoch) return committed.totals;
    return larger(announced.totals, committed.totals);
}

bool RowCache::contains(std::string_view id) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [id](const Entry& entry) { return entry.id == id; });
}

RowCache::Entry& RowCache::entry(std::string_view id) {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [id](const Entry& entry) { return entry.id == id; });
    if (found != entries_.end()) return *found;
    return entries_.emplace_back(Entry{std::string(id), {}, {}});
}

namespace {
void merge(TotalsRecord& known, TotalsRecord record) {
    if (record.epoch > known.epoch) {
        known = record;
    } else if (record.epoch == known.epoch) {
        known.totals = larger(known.totals, record.totals);
    }
}
}  // namespace

void RowCache::merge_committed(std::string_view id, TotalsRecord record) {
    merge(entry(id).committed, record);
}

void RowCache::merge_announced(std::string_view id, TotalsRecord record) {
    // Announcements of known rows are always taken; strangers may not fill the memory.
    if (entries_.size() >= cached_rows_max && !contains(id)) return;
    auto& row = entry(id);
    const auto before = row.announced;
    merge(row.announced, record);
    if (row.announced != before) row.checks = 0;
}

bool RowCache::age_announcements(int checks_max) {
    bool left = false;
    for (auto& row : entries_) {
        if (!row.ahead_of_store()) continue;
        if (++row.checks >= checks_max) {
            row.announced = {};
        } else {
            left = true;
        }
    }
    std::erase_if(entries_, [](const Entry& row) {
        return row.committed == TotalsRecord{} && row.announced == TotalsRecord{};
    });
    return left;
}

void RowCache::remove(std::string_view id) {
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
}

std::int64_t RowCache::sum() const {
    std::int64_t total = 0;
    for (const auto& entry : entries_) {
        const auto totals = entry.believed();
        total = saturating_add(total, totals.plus - totals.minus);
    }
    return total;
}

std::int64_t RowCache::committed_sum() const {
    std::int64_t total = 0;
    for (const auto& entry : entries_) {
        total = saturating_add(total, entry.committed.totals.plus - entry.committed.totals.minus);
    }
    return total;
}

}  // namespace tabacus
