// Generations: noticing that the database vanished, saying so, and bringing back what is known.
//
// Healing may be done by anybody, in any order, any number of times: a row keeps the name of the
// generation in which it was written, is never written again under it, and is merged by the larger.
#include <algorithm>

#include "protocol/common/concat.hpp"
#include "replica.hpp"

namespace tabacus {
namespace {

constexpr std::string_view generation_key = "generation";

void add_saved(std::list<Mirror::Entry>& saved, Mirror::Entry entry) {
    const auto same = std::find_if(saved.begin(), saved.end(),
                                   [&](const auto& other) { return other.row == entry.row; });
    if (same == saved.end()) {
        saved.push_back(std::move(entry));
    } else {
        outgrows(same->record, entry.record);
    }
}

}  // namespace

/// The id of this database, made in the first transaction of its life. `loss` says what vanished if
/// it is not the database that this tab, the mirror or the browser remembers.
Task<std::string> Replica::settle_generation(Transaction& transaction, Notice& loss) {
    const auto row = co_await transaction.get(Store::meta, generation_key);
    const bool readable = row && !row->foreign && is_identifier(row->value);
    if (row && !readable) {
        transaction.put(Store::aside, "meta/generation", row->text());
        set_aside("meta", generation_key);
    }
    const auto generation = readable ? row->value : identifier_of(world_.random().bits());
    if (!readable) transaction.put(Store::meta, generation_key, generation);

    auto previous = generation_;
    if (previous.empty()) {
        previous = Mirror::parsed_generation(co_await attempt(mirror_.generation()));
    }
    const bool other = !previous.empty() && previous != generation;
    const bool browser_says_so = data_loss_ == "total";
    if (other || browser_says_so) {
        loss = {Notice::Kind::store_lost,
                browser_says_so ? "data-loss" : "generation-changed",
                "The database vanished; what living tabs and the mirror know was brought back.",
                generation,
                previous,
                0};
    }
    co_return generation;
}

/// Puts back every row of other generations that the mirror or this tab's memory knows better than
/// the database does. Returns how many.
Task<std::int32_t> Replica::heal(Transaction& transaction, std::string_view generation) {
    std::list<Mirror::Entry> saved = co_await mirror_.entries("");
    for (auto& state : counters_) {
        for (const auto& entry : state.ledger.entries()) {
            add_saved(saved, {row_key(state.key, entry.id), entry.committed});
        }
        if (state.based) {
            add_saved(saved, {row_key(state.key, row_), {row_epoch_, state.committed}});
        }
    }
    std::int32_t healed = 0;
    for (const auto& entry : saved) {
        // Rows of this very generation have a living owner, or are based on the mirror when
        // adopted.
        if (parse_row_key(entry.row)->generation == generation) continue;
        const auto row = co_await transaction.get(Store::rows, entry.row);
        auto record = row ? parse_totals(row->value).value_or(TotalsRecord{}) : TotalsRecord{};
        if (entry.record.totals.empty() || !outgrows(record, entry.record)) continue;
        transaction.put(Store::rows, entry.row, format_totals(record));
        ++healed;
    }
    co_return healed;
}

}  // namespace tabacus
