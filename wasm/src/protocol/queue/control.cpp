// What a queue's users see and do of it as a whole.
#include <algorithm>
#include <map>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/stable_sort.hpp"
#include "state.hpp"

namespace tabacus {
namespace {

/// The jobs of a list, with what they carry. Reads only: what cannot be read is skipped.
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

Task<std::int64_t> set_paused(QueueRows& rows, QueueHead::Paused how,
                              std::optional<QueueHead::Paused> only) {
    if (rows.head.paused == how || (only && rows.head.paused != *only)) co_return 0;
    rows.head.paused = how;
    rows.touched = true;
    if (how == QueueHead::Paused::no) {
        rows.changes.add(QueueEvent::Kind::resumed, {});
    } else {
        rows.changes.add(QueueEvent::Kind::paused, {"user"});
    }
    co_return 1;
}

Task<std::int64_t> cancel_key(QueueRows& rows, std::string key) {
    const auto index =
        co_await rows.transaction.get(Store::jobs, rows.key(concat({"k/", escaped(key)})));
    if (!index || !is_job_position(index->value)) co_return 0;
    const auto row = co_await rows.transaction.get(Store::jobs, rows.key(index->value));
    const auto job = row ? rows.job_of(*row) : std::nullopt;
    if (!job || job->key != key) co_return 0;
    rows.take(job->position());
    rows.cancel(*job);
    co_return 1;
}

Task<std::int64_t> clear_all(QueueRows& rows) {
    std::int64_t count = 0;
    for (const std::string_view part : {"r/", "w/"}) {
        const auto found = co_await rows.transaction.list(Store::jobs, rows.key(part));
        for (const auto& row : found) {
            const auto jobs = rows.jobs_of(row);
            if (!jobs.empty()) rows.take(jobs.back().position());
            for (const auto& job : jobs) rows.cancel(job);
            count += static_cast<std::int64_t>(jobs.size());
        }
    }
    // The event names no job: there may be too many.
    std::erase_if(rows.changes.events, [](const QueueEvent& event) {
        return event.kind == QueueEvent::Kind::cancelled;
    });
    rows.changes.add(QueueEvent::Kind::cancelled, {});
    co_return count;
}

Task<std::int64_t> end_dead_letter(QueueRows& rows, std::string id, bool again) {
    const auto letter = rows.key(concat({"d/", id}));
    const auto row = co_await rows.transaction.get(Store::jobs, letter);
    auto job = row ? parse_job(row->value) : std::nullopt;
    if (!job) co_return 0;
    bool there = false;
    if (!job->key.empty()) {
        // One that has come under its key since stands for both.
        const auto index = rows.key(concat({"k/", escaped(job->key)}));
        there = (co_await rows.transaction.get(Store::jobs, index)).has_value();
    }
    const bool returns = again && !there;
    if (returns && !rows.head.kind(job->kind)) co_await rows.recount_kinds(1);
    const auto refusal = returns ? rows.refusal_of(job->kind) : std::nullopt;
    if (refusal) co_await fail(*refusal);
    rows.transaction.remove(Store::jobs, letter);
    rows.touched = true;
    rows.changes.add(QueueEvent::Kind::changed, {});
    if (!returns) {
        if (job->payload.by_value) {
            rows.transaction.remove(Store::data, queue_value_key(rows.queue, concat({"p/", id})));
        }
        co_return 1;
    }
    job->attempts = job->lost_workers = 0;
    job->due_ms = job->delay_ms = 0;
    job->error.clear();
    job->rank = --rows.head.front;
    ++rows.head.count;
    rows.put(*job);
    rows.changes.add(QueueEvent::Kind::queued, {job->id, job->key, job->kind});
    co_return 1;
}

}  // namespace

// --- Changes of the whole -----------------------------------------------------------------------

Task<std::int64_t> Queue::change(Change apply) {
    for (int tried = 1;; ++tried) {
        auto outcome = co_await attempt(change_once(apply));
        if (outcome) co_return outcome.value();
        const Error error = outcome.error();
        if (error.code() != ErrorCode::store_failed || tried == queue_attempts_max || closed_) {
            co_await fail(error);
        }
    }
}

Task<std::int64_t> Queue::change_once(const Change& apply) {
    if (closed_) co_await fail(ErrorCode::closed, "the tab was closed");
    constexpr Stores scope{Store::jobs, Store::data, Store::quarantine};
    Changes changes;
    std::int64_t result = 0;
    {
        const auto transaction =
            co_await parts_.transactions.begin(scope, Access::write, options_.durability);
        QueueRows rows{*transaction, parts_.context, key_, options_, changes};
        co_await rows.read_head();
        result = co_await apply(rows);
        if (rows.touched) {
            co_await rows.write_head();
            const auto committed = co_await attempt(transaction->commit());
            if (!committed) {
                const Error error = committed.error();
                if (error.code() == ErrorCode::unknown_commit) keep_unknown(changes);
                co_await fail(error);
            }
        }
    }
    publish(changes);
    co_return result;
}

Task<void> Queue::pause() {
    paused_ = true;
    co_await change(
        [](QueueRows& rows) { return set_paused(rows, QueueHead::Paused::by_user, std::nullopt); });
}

Task<void> Queue::resume() {
    co_await change(
        [](QueueRows& rows) { return set_paused(rows, QueueHead::Paused::no, std::nullopt); });
}

void Queue::online() {
    if (!paused_ || closed_) return;
    parts_.scope.spawn([](Queue& self) -> Task<void> {
        // Every tab receives this event: one that fails to resume the queue is not the only one.
        (void)co_await attempt(self.change([](QueueRows& rows) {
            return set_paused(rows, QueueHead::Paused::no, QueueHead::Paused::by_failure);
        }));
    }(*this));
}

Task<bool> Queue::cancel(std::string key) {
    const auto found = co_await change([key](QueueRows& rows) { return cancel_key(rows, key); });
    co_return found > 0;
}

Task<std::int64_t> Queue::clear() { return change(clear_all); }

Task<bool> Queue::retry(std::string id) {
    const auto found =
        co_await change([id](QueueRows& rows) { return end_dead_letter(rows, id, true); });
    co_return found > 0;
}

Task<bool> Queue::discard(std::string id) {
    const auto found =
        co_await change([id](QueueRows& rows) { return end_dead_letter(rows, id, false); });
    co_return found > 0;
}

// --- Views of the whole -------------------------------------------------------------------------

Task<std::vector<JobInfo>> Queue::list(bool all) {
    if (closed_) co_await fail(ErrorCode::closed, "the tab was closed");
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction =
        co_await parts_.transactions.begin(scope, Access::read, Durability::relaxed);
    Changes changes;
    QueueRows rows{*transaction, parts_.context, key_, options_, changes};
    const auto slots = co_await rows.read_slots();
    std::vector<JobInfo> infos;
    std::map<std::string, std::string> where;
    for (const auto& slot : slots) {
        if (slot.entries.empty()) continue;
        // Those behind it wait for it.
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

Task<std::vector<JobInfo>> Queue::jobs() {
    return read_again(parts_.world, [this] { return list(true); });
}

Task<std::vector<JobInfo>> Queue::running() {
    return read_again(parts_.world, [this] { return list(false); });
}

Task<std::vector<JobInfo>> Queue::dead_letters() {
    return read_again(parts_.world, [this] { return list_dead(); });
}

Task<std::vector<JobInfo>> Queue::list_dead() {
    if (closed_) co_await fail(ErrorCode::closed, "the tab was closed");
    constexpr Stores scope{Store::jobs, Store::data};
    const auto transaction =
        co_await parts_.transactions.begin(scope, Access::read, Durability::relaxed);
    Changes changes;
    QueueRows rows{*transaction, parts_.context, key_, options_, changes};
    std::vector<JobInfo> infos;
    const auto dead = co_await jobs_of(rows, "d/");
    infos.reserve(dead.size());
    for (const auto& job : dead) infos.push_back(info_of(job, JobInfo::State::dead));
    sort_stably(infos, [](const auto& a, const auto& b) { return a.due_ms < b.due_ms; });
    co_return infos;
}

Task<std::int64_t> Queue::read_count() {
    return read_again(parts_.world, [this] { return read_head(); });
}

Task<std::int64_t> Queue::read_head() {
    if (closed_) co_await fail(ErrorCode::closed, "the tab was closed");
    constexpr Stores scope{Store::jobs};
    std::optional<QueueHead> head;
    {
        const auto transaction =
            co_await parts_.transactions.begin(scope, Access::read, Durability::relaxed);
        const auto row = co_await transaction->get(Store::jobs, concat({key_, "/h"}));
        if (row) head = parse_queue_head(row->value);
    }
    if (head) {
        note(head->version, head->count);
        paused_ = head->paused != QueueHead::Paused::no;
    }
    co_return head ? head->count : 0;
}

Task<void> Queue::idle() {
    co_await read_count();
    const Completer<Unit> done;
    idle_.push_back(done);
    watch();
    note(version_, count_);
    co_await done.async();
}

}  // namespace tabacus
