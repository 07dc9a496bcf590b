// Generations: noticing that the database vanished, reporting it, and bringing back what is known.
//
// Any tab may recover rows, in any order, any number of times: a row keeps the name of the
// generation in which it was written, is never written again under it, and is merged by the larger.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

constexpr std::string_view generation_key = "generation";

void add_saved(std::list<BackupRow>& saved, BackupRow row) {
    const auto same = std::find_if(saved.begin(), saved.end(),
                                   [&](const auto& other) { return other.row == row.row; });
    if (same == saved.end()) {
        saved.push_back(std::move(row));
    } else {
        outgrows(same->record, row.record);
    }
}

}  // namespace

/// The id of this database, `made` here if it has none. Fills `loss` if this is not the database
/// that this tab, the backup or the browser remembers.
Task<std::string> Replica::settle_generation(Transaction& transaction, Notice& loss, bool& made) {
    const auto row = co_await transaction.get(Store::meta, generation_key);
    const bool readable = row && !row->foreign && is_identifier(row->value);
    if (row && !readable) {
        transaction.put(Store::quarantine, "meta/generation", row->text());
        warn_unreadable("meta", generation_key);
    }
    const auto generation = readable ? row->value : identifier_of(world_.random().bits());
    made = !readable;
    if (made) transaction.put(Store::meta, generation_key, generation);

    auto previous = generation_;
    if (previous.empty()) {
        previous = Backup::parsed_generation(co_await attempt(backup_.generation()));
    }
    const bool other = !previous.empty() && previous != generation;
    const bool browser_reports = data_loss_ == "total";
    if (other || browser_reports) {
        loss.kind = Notice::Kind::store_lost;
        loss.code = browser_reports ? "data-loss" : "generation-changed";
        loss.message =
            "The database vanished; rows that open tabs or the backup knew were restored.";
        loss.subject = generation;
        loss.previous = previous;
    }
    co_return generation;
}

/// Puts back every row of other generations that the backup or this tab's memory knows better than
/// the database does. Returns how many.
Task<std::int32_t> Replica::recover(Transaction& transaction, std::string_view generation) {
    std::list<BackupRow> saved = co_await backup_.rows("");
    for (auto& state : counters_) {
        for (const auto& cached : state.row_cache.rows()) {
            add_saved(saved, {row_key(state.key, cached.id), cached.committed});
        }
        if (state.based) {
            add_saved(saved, {row_key(state.key, row_), {row_epoch_, state.committed}});
        }
    }
    std::int32_t recovered = 0;
    for (const auto& entry : saved) {
        // Rows of this very generation have a living owner, or are based on the backup when
        // adopted.
        if (parse_row_key(entry.row)->generation == generation) continue;
        const auto row = co_await transaction.get(Store::rows, entry.row);
        auto record = row ? parse_totals(row->value).value_or(TotalsRecord{}) : TotalsRecord{};
        if (entry.record.totals.empty() || !outgrows(record, entry.record)) continue;
        transaction.put(Store::rows, entry.row, format_totals(record));
        ++recovered;
    }
    co_return recovered;
}

}  // namespace tabacus
