#include "awaited_outcomes.hpp"

#include "protocol/common/concat.hpp"

namespace tabacus {

JobOutcome missing_outcome(std::string_view message, std::string_view code) {
    auto text =
        concat({R"({"name":"TabacusError","message":")", message, R"(","code":")", code, R"("})"});
    return {JobOutcome::Kind::failed, {std::move(text), false}, {}};
}

void AwaitedOutcomes::deliver(JobOutcomes outcomes) {
    std::erase_if(outcomes, [&](const auto& received) {
        const auto& [id, outcome] = received;
        if (ids_.erase(id) > 0) {
            unknown_.erase(id);
            return false;
        }
        // The job may be one that enqueue() has just accepted. The poller then delivers the
        // outcome.
        if (answers_pending_) unknown_.insert_or_assign(id, outcome);
        return true;
    });
    if (!outcomes.empty()) open_.callbacks.settled(outcomes);
}

void AwaitedOutcomes::keep_unknown(const QueueChanges& changes) {
    for (const auto& [id, outcome] : changes.outcomes) {
        if (expects(id)) unknown_.insert_or_assign(id, outcome);
    }
}

Task<JobOutcomes> AwaitedOutcomes::resolve_unknown(Transaction& transaction, std::string born) {
    std::set<std::string> there;
    QueueChanges changes;
    const auto rows = open_.rows(transaction, changes);
    for (const std::string_view part : {"r/", "w/"}) {
        co_await rows.each_row(part, [&](const Row& row) {
            for (const auto& job : parse_jobs(row.value)) {
                if (unknown_.contains(job.id)) there.insert(job.id);
            }
        });
    }
    const auto prefix = open_.outcomes_prefix();
    const auto reported = co_await transaction.list(Store::jobs, prefix);
    for (const auto& row : reported) there.insert(row.key.substr(prefix.size()));
    JobOutcomes happened;
    std::erase_if(unknown_, [&](const auto& entry) {
        const auto& [id, outcome] = entry;
        if (there.contains(id) || !id.starts_with(born + "-")) return true;
        const bool expected = expects(id);
        if (expected) happened.emplace_back(id, outcome);
        return !expected && !answers_pending_;
    });
    co_return happened;
}

void AwaitedOutcomes::lose_foreign(const std::string& born) {
    const auto prefix = born + "-";
    JobOutcomes gone;
    for (const auto& id : ids_) {
        if (!born.empty() && id.starts_with(prefix)) continue;
        gone.emplace_back(id, missing_outcome("the job is gone with the database that kept it"));
    }
    deliver(std::move(gone));
}

}  // namespace tabacus
