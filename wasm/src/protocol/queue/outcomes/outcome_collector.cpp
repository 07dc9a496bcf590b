#include "outcome_collector.hpp"

#include <algorithm>

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// How many outcomes one transaction fetches.
constexpr std::uint32_t collected_max = 256;
/// While a tab waits for more outcomes than these, it fetches them at intervals: one transaction
/// for each job that another tab has done would hold up the tabs that do jobs. A hidden tab does
/// not, because its timers may run once a minute. A tab that is hidden while it pauses ends that
/// pause a second late at most, since browsers slow the timers of a tab further only after minutes.
constexpr std::size_t prompt_max = 64;
constexpr double interval_ms = 50;

/// Parses the row, and removes the value that belongs to it.
Task<JobOutcome> take_outcome(Transaction& transaction, Row row) {
    auto parsed = parse_outcome_row(row.value);
    if (!parsed) co_return missing_outcome("the outcome of the job cannot be read");
    if (parsed->value.by_value) {
        const auto key = queue_value_key(row.key);
        auto value = co_await transaction.get(Store::data, key);
        if (value && !value->foreign) parsed->value.text = std::move(value->value);
        transaction.remove(Store::data, key);
    }
    co_return JobOutcome{parsed->kind, std::move(parsed->value), {}};
}

}  // namespace

Task<void> OutcomeCollector::collect() {
    again_ = true;
    if (std::exchange(collecting_, true)) co_return;
    while (std::exchange(again_, false)) {
        auto more = co_await attempt(collect_some());
        if (more && more.value()) again_ = true;
        if (more && !again_) idle_.settle();
        auto& world = open_.context.world;
        if (awaited_.size() > prompt_max && !world.lifecycle().hidden()) {
            co_await world.clock().sleep(interval_ms);
        }
    }
    collecting_ = false;
}

/// Fetches up to collected_max outcomes. Returns whether there may be more.
Task<bool> OutcomeCollector::collect_some() {
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction = co_await open_.begin(scope, Access::write, Durability::relaxed);
    const auto prefix = open_.outcomes_prefix();
    // While callers of enqueue() wait for receipts, an outcome that is not expected yet may belong
    // to one of their jobs. Its row stays, and all rows are read, so that it delays no other one.
    const bool pending = awaited_.answers_pending();
    auto rows = co_await transaction->list(Store::jobs, prefix,
                                           pending ? Transaction::rows_max : collected_max);
    // Outcomes of a newer version stay, too.
    if (rows.size() == collected_max && !pending &&
        std::ranges::any_of(rows, [](const Row& row) { return is_newer(row.value); })) {
        rows = co_await transaction->list(Store::jobs, prefix);
    }
    JobOutcomes outcomes;
    JobOutcomes newer;  // their rows stay
    std::size_t removed = 0;
    for (const auto& row : rows) {
        if (removed == collected_max) break;
        const auto id = row.key.substr(prefix.size());
        if (is_newer(row.value)) {
            if (!awaited_.expects(id)) continue;
            newer.emplace_back(id, missing_outcome("a newer version ran the job: reload this tab",
                                                   "version-mismatch"));
            continue;
        }
        if (awaited_.expects(id)) {
            outcomes.emplace_back(id, co_await take_outcome(*transaction, row));
        } else if (pending) {
            continue;
        } else {
            transaction->remove(Store::data, queue_value_key(row.key));
        }
        transaction->remove(Store::jobs, row.key);
        ++removed;
    }
    awaited_.deliver(std::move(newer));
    if (removed == 0) co_return false;
    const auto committed = co_await attempt(transaction->commit());
    // If the outcome of the commit is unknown, the rows may be left. The outcomes are valid anyway.
    if (!committed && committed.error().code() != ErrorCode::unknown_commit) {
        co_await fail(committed.error());
    }
    awaited_.deliver(std::move(outcomes));
    co_return removed == collected_max;
}

}  // namespace tabacus
