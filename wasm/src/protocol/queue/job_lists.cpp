#include "job_lists.hpp"

#include <map>

#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// Returns the jobs of a list with their payloads. It only reads: what cannot be read is skipped.
Task<std::vector<Job>> jobs_of(QueueRows& rows, std::string part) {
    std::vector<Job> jobs;
    const auto found = co_await rows.transaction.list(Store::jobs, rows.key(part));
    for (const auto& row : found) {
        for (auto& job : parse_jobs(row.value)) {
            co_await rows.read_value(job);
            jobs.push_back(std::move(job));
        }
    }
    co_return jobs;
}

}  // namespace

Task<std::vector<JobInfo>> JobLists::list(bool all) {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction = co_await open_.begin_read(scope);
    QueueChanges changes;
    auto rows = open_.rows(*transaction, changes);
    const auto slots = co_await rows.read_slots();
    std::vector<JobInfo> infos;
    std::map<std::string, std::string> where;
    for (const auto& slot : slots) {
        if (slot.entries.empty()) continue;
        // The jobs behind the first one wait for it.
        const auto& entry = slot.entries.front();
        where[entry.id] = slot.tab;
        if (all) continue;
        const auto row = co_await transaction->get(Store::jobs, rows.key(entry.position));
        const auto jobs = row ? parse_jobs(row->value) : std::vector<Job>();
        if (jobs.empty() || jobs.front().id != entry.id) continue;
        infos.push_back(info_of(jobs.front(), JobInfo::State::running));
        infos.back().tab = slot.tab;
    }
    if (!all) co_return infos;
    auto jobs = co_await jobs_of(rows, "r/");
    sort_stably(jobs, [&](const Job& a, const Job& b) {
        const bool a_runs = where.contains(a.id);
        const bool b_runs = where.contains(b.id);
        if (a_runs != b_runs) return a_runs;
        if (a.priority != b.priority) return a.priority > b.priority;
        return a.rank < b.rank;
    });
    for (const auto& job : jobs) {
        const auto running = where.find(job.id);
        const bool runs = running != where.end();
        infos.push_back(info_of(job, runs ? JobInfo::State::running : JobInfo::State::queued));
        if (runs) infos.back().tab = running->second;
    }
    const auto delayed = co_await jobs_of(rows, "w/");
    for (const auto& job : delayed) infos.push_back(info_of(job, JobInfo::State::delayed));
    co_return infos;
}

Task<std::vector<JobInfo>> JobLists::jobs() {
    return read_again(open_.context.world, [this] { return list(true); });
}

Task<std::vector<JobInfo>> JobLists::running() {
    return read_again(open_.context.world, [this] { return list(false); });
}

Task<std::vector<JobInfo>> JobLists::dead_letters() {
    return read_again(open_.context.world, [this] { return list_dead(); });
}

Task<std::vector<JobInfo>> JobLists::list_dead() {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction = co_await open_.begin_read(scope);
    QueueChanges changes;
    auto rows = open_.rows(*transaction, changes);
    std::vector<JobInfo> infos;
    const auto dead = co_await jobs_of(rows, "d/");
    infos.reserve(dead.size());
    for (const auto& job : dead) infos.push_back(info_of(job, JobInfo::State::dead));
    sort_stably(infos, [](const auto& a, const auto& b) { return a.due_ms < b.due_ms; });
    co_return infos;
}

Task<std::int64_t> JobLists::read_count() {
    return read_again(open_.context.world, [this] { return read_head(); });
}

Task<std::int64_t> JobLists::read_head() {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs};
    std::optional<QueueHead> head;
    {
        const auto transaction = co_await open_.begin_read(scope);
        const auto row = co_await transaction->get(Store::jobs, open_.row_key("h"));
        if (row) head = parse_queue_head(row->value);
    }
    if (head) {
        news_.note(head->version, head->count);
        status_.paused = head->paused != QueueHead::Paused::no;
    }
    co_return head ? head->count : 0;
}

}  // namespace tabacus
