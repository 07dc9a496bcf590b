#include "job_selector.hpp"

#include <algorithm>
#include <set>

#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// The most jobs that are claimed together after a worker was lost with them, because one of them
/// may have crashed it. After a second loss each is claimed alone.
constexpr std::size_t suspects_max = 32;

/// Whether a job is claimed alone: it has probably crashed its workers, or it must not begin twice,
/// or its payload is a value, which must be read first.
bool alone(const Job& job) {
    return job.lost_workers > 1 || job.at_most_once || job.payload.by_value;
}

/// Claims the first `count` jobs of the row. The other jobs are written to another row.
void claim_first(QueueRows& rows, std::vector<Job> jobs, std::size_t count, SlotTurn& turn) {
    const auto first = std::span(jobs).first(count);
    if (count < jobs.size()) {
        rows.put(first);
        rows.put(std::span(jobs).subspan(count));
    }
    const auto position = first.back().position();
    turn.claim.rows.push_back({position, turn.claim.jobs.size(), count, false});
    turn.claim.recorded.push_back({position, first.front().id});
    for (auto& job : first) {
        rows.changes.add_running(job);
        turn.claim.jobs.push_back(std::move(job));
    }
}

}  // namespace

/// Returns the first rows of jobs that may run, by priority and rank, of the kinds that this tab
/// handles: at least `limit` rows if there are so many.
Task<JobSelector::OrderedRows> JobSelector::first_rows(QueueRows& rows, std::size_t limit) {
    const auto now_ms = open_.monotonic_ms();
    const bool all = !searched_ms_ || now_ms - *searched_ms_ >= work_again_ms;
    if (all) searched_ms_ = now_ms;
    std::vector<std::pair<QueueHead::Kind*, Async<std::vector<Row>>>> reads;
    for (auto& kind : rows.head.kinds) {
        if (!kinds_.handles(kind.name)) continue;
        if (all) kind.first.clear();
        const auto prefix = rows.key(kind_prefix(kind.name));
        const auto from = concat({prefix, kind.first});
        reads.emplace_back(&kind, rows.transaction.list(Store::jobs, prefix,
                                                        static_cast<std::uint32_t>(limit), from));
    }
    OrderedRows found;
    std::optional<std::string> horizon;  // behind it, a kind may have rows that were not read yet
    for (auto& [kind, read] : reads) {
        const auto length = rows.key(kind_prefix(kind->name)).size();
        auto listed = co_await std::move(read);
        for (auto& row : listed) {
            auto order = row.key.substr(length);
            if (&row == listed.data() && is_order(order)) kind->first = order;
            found.emplace_back(std::move(order), std::move(row));
        }
        if (listed.size() == limit && (!horizon || found.back().first < *horizon)) {
            horizon = found.back().first;
        }
    }
    if (horizon) std::erase_if(found, [&](const auto& row) { return row.first > *horizon; });
    sort_stably(found, [](const auto& a, const auto& b) { return a.first < b.first; });
    co_return found;
}

Task<void> JobSelector::select(QueueRows& rows, const std::vector<Row>& slots,
                               const HeldSlot& held_slot, SlotTurn& turn) {
    turn.searched = true;
    if (rows.head.delayed > 0) turn.next_due_ms = co_await rows.promote();
    if (rows.head.count == 0) co_return;
    std::set<std::string> busy;
    for (const auto& row : slots) {
        const auto slot = parse_slot_row(row.value);
        const auto number =
            parse_decimal(std::string_view(row.key).substr(rows.key("s/").size()), 0, INT32_MAX);
        if (!slot || !number || *number == held_slot.slot || slot->entries.empty()) continue;
        for (const auto& entry : slot->entries) busy.insert(entry.id);
        turn.claimed_slots.push_back(static_cast<int>(*number));
        if (*number >= open_.options.concurrency) turn.orphans.push_back(static_cast<int>(*number));
    }
    turn.claim.gapless = busy.empty();
    const auto found = co_await first_rows(rows, held_slot.size.rows() + busy.size());
    auto most = held_slot.size.jobs();
    for (const auto& [order, row] : found) {
        auto jobs = rows.jobs_of(row);
        if (jobs.empty() || busy.contains(jobs.front().id)) continue;
        if (jobs.front().lost_workers > 0) most = std::min(most, suspects_max);
        if (turn.claim.jobs.size() >= most) break;
        const bool single = alone(jobs.front());
        const auto count = single ? 1 : std::min(jobs.size(), most - turn.claim.jobs.size());
        // Only the first row may be split.
        if (!turn.claim.jobs.empty() && (single || count < jobs.size())) break;
        if (single) {
            const bool once = jobs.front().at_most_once;
            turn.strict =
                once && !held_slot.strict && open_.options.durability != Durability::strict;
            if (turn.strict) break;
            co_await rows.read_value(jobs.front());
        }
        claim_first(rows, std::move(jobs), count, turn);
        if (single) break;
    }
    if (!turn.claim.jobs.empty()) rows.changes.end_running(held_slot.slot);
}

}  // namespace tabacus
