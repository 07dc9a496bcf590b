#include "generation.hpp"

#include <list>

#include "backup.hpp"
#include "counter/counter_set.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/version_guard.hpp"
#include "replica_notices.hpp"
#include "replica_slot.hpp"

namespace tabacus {
namespace {

constexpr std::string_view generation_key = "generation";

}  // namespace

bool Generation::readable(const std::optional<Row>& row) {
    return row && !row->foreign && is_identifier(row->value);
}

void Generation::compare(const std::string& id, const std::string& previous, Notice& loss) const {
    const bool other = !previous.empty() && previous != id;
    const bool browser_reports = loss_reported();
    if (other || browser_reports) {
        loss.kind = Notice::Kind::store_lost;
        loss.code = browser_reports ? "data-loss" : "generation-changed";
        loss.message =
            "The database vanished; rows that open tabs or the backup knew were restored.";
        loss.subject = id;
        loss.previous = previous;
    }
}

Task<std::string> Generation::settle(Transaction& transaction, Backup& backup,
                                     ReplicaNotices& notices, Random& random, Notice& loss,
                                     bool& made) const {
    const auto row = co_await transaction.get(Store::meta, generation_key);
    const bool known = readable(row);
    if (row && !known) {
        transaction.put(Store::quarantine, "meta/generation", row->text());
        notices.warn_unreadable("meta", generation_key);
    }
    const auto id = known ? row->value : identifier_of(random.bits());
    made = !known;
    if (made) transaction.put(Store::meta, generation_key, id);

    auto previous = id_;
    if (previous.empty()) {
        auto text = co_await attempt(backup.generation());
        if (Backup::newer(text)) {
            // If the database is intact, nothing depends on the text, which is left as it is.
            if (made) co_await fail(newer_record(generation_key));
            backup.keep_generation();
        }
        previous = Backup::parsed_generation(std::move(text));
    }
    compare(id, previous, loss);
    co_return id;
}

Task<std::int32_t> recover(Transaction& transaction, std::string_view generation, Backup& backup,
                           CounterSet& counters, const ReplicaSlot& slot, bool lost) {
    // Rows of this generation have a living owner. An adoption uses the backup only in place of a
    // row that cannot be read.
    const auto current = concat({generation, "/"});
    auto saved = co_await backup.rows_of_others(generation);
    // Beside a database that is intact, a row of the backup may be another script's.
    if (!lost) saved.clear();
    const auto add = [&](const CounterState& state, const std::string& row, TotalsRecord record) {
        if (row.starts_with(current)) return;
        // A newer version may have continued the row, and its backup then goes first.
        const auto at = state.reads.any_unreadable() ? saved.end() : saved.begin();
        saved.insert(at, {row_key(state.key, row), format_totals(record)});
    };
    for (auto& state : counters) {
        for (const auto& cached : state.row_cache.rows()) add(state, cached.id, cached.committed);
        if (state.own_row.based()) {
            add(state, slot.row(), {slot.epoch(), state.own_row.committed()});
        }
    }
    std::int32_t recovered = 0;
    for (auto& entry : saved) {
        const auto row = co_await transaction.get(Store::rows, entry.row);
        if (row && is_newer(row->value)) continue;
        const auto stored = row ? parse_totals(row->value) : std::nullopt;
        if (is_newer(entry.text)) {
            // A newer version reads there what it has backed up. What can be read is not replaced.
            if (stored) continue;
        } else {
            auto record = stored.value_or(TotalsRecord{});
            const auto known = parse_totals(entry.text);
            if (!known || known->totals.empty() || !outgrows(record, *known)) continue;
            entry.text = format_totals(record);
        }
        transaction.put(Store::rows, entry.row, entry.text);
        ++recovered;
    }
    co_return recovered;
}

}  // namespace tabacus
