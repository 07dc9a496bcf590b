#include "row_cache.hpp"

#include <algorithm>

#include "protocol/common/erase_selected.hpp"

namespace tabacus {

std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
    // Both lie within ±total_max < 2^62, so that the sum fits.
    return std::clamp(a + b, -total_max, total_max);
}

bool CachedRow::ahead_of_store() const { return believed() != committed.totals; }

Totals CachedRow::believed() const {
    if (announced.epoch > committed.epoch) return announced.totals;
    if (announced.epoch < committed.epoch) return committed.totals;
    return larger(announced.totals, committed.totals);
}

CachedRow* RowCache::find(std::string_view id) {
    for (auto& row : rows_) {
        if (row.id == id) return &row;
    }
    return nullptr;
}

CachedRow& RowCache::row_of(std::string_view id) {
    auto* const found = find(id);
    return found == nullptr ? rows_.emplace_back(CachedRow{std::string(id), {}, {}}) : *found;
}

Totals RowCache::committed(std::string_view id) {
    const auto* const row = find(id);
    return row == nullptr ? Totals{} : row->committed.totals;
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
    merge(row_of(id).committed, record);
}

void RowCache::merge_announced(std::string_view id, TotalsRecord record) {
    // Announcements of known rows are always merged; those of unknown rows may not fill the memory.
    if (rows_.size() >= cached_rows_max && find(id) == nullptr) return;
    auto& row = row_of(id);
    const auto before = row.announced;
    merge(row.announced, record);
    if (row.announced != before) row.checks = 0;
}

bool RowCache::age_announcements(int checks_max) {
    bool left = false;
    for (auto& row : rows_) {
        if (!row.ahead_of_store()) continue;
        if (++row.checks >= checks_max) {
            row.announced = {};
        } else {
            left = true;
        }
    }
    erase_selected(rows_, [](const CachedRow& row) {
        return row.committed == TotalsRecord{} && row.announced == TotalsRecord{};
    });
    return left;
}

void RowCache::remove(std::string_view id) {
    erase_selected(rows_, [id](const CachedRow& row) { return row.id == id; });
}

std::int64_t RowCache::sum() const {
    std::int64_t total = 0;
    for (const auto& row : rows_) {
        const auto totals = row.believed();
        total = saturating_add(total, totals.plus - totals.minus);
    }
    return total;
}

std::int64_t RowCache::committed_sum() const {
    std::int64_t total = 0;
    for (const auto& row : rows_) {
        total = saturating_add(total, row.committed.totals.plus - row.committed.totals.minus);
    }
    return total;
}

bool RowCache::has_older_version() const {
    return std::any_of(rows_.begin(), rows_.end(), [](const CachedRow& row) {
        return std::max(row.committed.epoch, row.announced.epoch) < epochs_per_adoption;
    });
}

}  // namespace tabacus
