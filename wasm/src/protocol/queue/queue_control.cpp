#include "queue_control.hpp"

#include "kind_limits.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"

namespace tabacus {
namespace {

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
    const auto index = co_await rows.transaction.get(Store::jobs, rows.index_key(key));
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
        co_await rows.each_row(part, [&](const Row& row) {
            const auto jobs = rows.jobs_of(row);
            if (!jobs.empty()) rows.take(jobs.back().position());
            for (const auto& job : jobs) rows.cancel(job);
            count += static_cast<std::int64_t>(jobs.size());
            // The event names no job, because there may be too many.
            std::erase_if(rows.changes.events, [](const QueueEvent& event) {
                return event.kind == QueueEvent::Kind::cancelled;
            });
        });
    }
    rows.changes.add(QueueEvent::Kind::cancelled, {});
    co_return count;
}

/// Ends a dead letter: makes it a job at the front if `again` is true, and discards it otherwise.
Task<std::int64_t> end_dead_letter(QueueRows& rows, std::string id, bool again) {
    const auto letter = rows.key(concat({"d/", id}));
    const auto row = co_await rows.transaction.get(Store::jobs, letter);
    auto job = row ? parse_job(row->value) : std::nullopt;
    if (!job) co_return 0;
    bool there = false;
    if (!job->key.empty()) {
        // If a job with the same key was enqueued meanwhile, the dead letter is only discarded.
        const auto index = rows.index_key(job->key);
        there = (co_await rows.transaction.get(Store::jobs, index)).has_value();
    }
    const bool returns = again && !there;
    if (returns && !rows.head.kind(job->kind) && !KindLimits(rows).has_room(1)) {
        co_await KindLimits(rows).recount();
    }
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

Task<std::int64_t> QueueControl::change(Change apply) {
    for (int tried = 1;; ++tried) {
        auto outcome = co_await attempt(change_once(apply));
        if (outcome) co_return outcome.value();
        const Error error = outcome.error();
        if (error.code() != ErrorCode::store_failed || tried == queue_attempts_max ||
            open_.closed) {
            co_await fail(error);
        }
    }
}

Task<std::int64_t> QueueControl::change_once(const Change& apply) {
    if (open_.closed) co_await fail(queue_closed());
    constexpr Stores scope{Store::jobs, Store::data, Store::quarantine};
    QueueChanges changes;
    std::int64_t result = 0;
    {
        const auto transaction =
            co_await open_.begin(scope, Access::write, open_.options.durability);
        auto rows = open_.rows(*transaction, changes);
        co_await rows.read_head();
        result = co_await apply(rows);
        if (rows.touched) {
            co_await rows.write_head();
            rows.prove();
            open_.announce_commit();
            poller_.expect();
            const auto committed = co_await attempt(transaction->commit());
            if (!committed) {
                const Error error = committed.error();
                if (error.code() == ErrorCode::unknown_commit) awaited_.keep_unknown(changes);
                co_await fail(error);
            }
        }
    }
    news_.publish(changes);
    co_return result;
}

Task<void> QueueControl::pause() {
    status_.paused = true;
    co_await change(
        [](QueueRows& rows) { return set_paused(rows, QueueHead::Paused::by_user, std::nullopt); });
}

Task<void> QueueControl::resume() {
    co_await change(
        [](QueueRows& rows) { return set_paused(rows, QueueHead::Paused::no, std::nullopt); });
}

void QueueControl::online() {
    if (!status_.paused || open_.closed) return;
    open_.context.scope.spawn([](QueueControl& self) -> Task<void> {
        // A failure does no harm, because every tab receives the event and tries to resume the
        // queue.
        (void)co_await attempt(self.change([](QueueRows& rows) {
            return set_paused(rows, QueueHead::Paused::no, QueueHead::Paused::by_failure);
        }));
    }(*this));
}

Task<bool> QueueControl::cancel(std::string key) {
    const auto found = co_await change([key](QueueRows& rows) { return cancel_key(rows, key); });
    co_return found > 0;
}

Task<std::int64_t> QueueControl::clear() { return change(clear_all); }

Task<bool> QueueControl::retry(std::string id) {
    const auto found =
        co_await change([id](QueueRows& rows) { return end_dead_letter(rows, id, true); });
    co_return found > 0;
}

Task<bool> QueueControl::discard(std::string id) {
    const auto found =
        co_await change([id](QueueRows& rows) { return end_dead_letter(rows, id, false); });
    co_return found > 0;
}

}  // namespace tabacus
