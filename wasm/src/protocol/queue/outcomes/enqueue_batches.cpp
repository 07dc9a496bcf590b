#include "enqueue_batches.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// The most requests of one transaction. More would hold up the transactions of others.
constexpr std::size_t batch_max = 2048;

}  // namespace

Task<JobReceipt> EnqueueBatches::enqueue(JobSpec spec) {
    if (open_.closed) co_await fail(queue_closed());
    const auto request = std::make_shared<Request>();
    request->spec = std::move(spec);
    waiting_.push_back(request);
    if (!awaited_.answers_pending()) {
        awaited_.set_answers_pending(true);
        open_.context.scope.spawn(flush());
    }
    co_await request->decided.async();
    if (request->failure) co_await fail(*request->failure);
    if (request->refusal) co_await fail(*request->refusal);
    co_return request->receipt;
}

/// Commits one batch at a time, until no request waits.
Task<void> EnqueueBatches::flush() {
    co_await open_.context.world.clock().end_of_turn();
    while (!waiting_.empty()) {
        const auto count = std::min(waiting_.size(), batch_max);
        const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
        Batch batch(waiting_.begin(), end);
        waiting_.erase(waiting_.begin(), end);
        co_await commit(std::move(batch));
    }
    awaited_.set_answers_pending(false);
}

Task<void> EnqueueBatches::commit(Batch batch) {
    std::optional<Error> failure;
    for (int tried = 1; tried <= queue_attempts_max; ++tried) {
        const auto written = co_await attempt(write(batch));
        failure = written ? std::nullopt : std::optional<Error>(written.error());
        if (!failure || failure->code() != ErrorCode::store_failed || open_.closed) break;
    }
    if (failure && failure->code() == ErrorCode::quota_exceeded && batch.size() > 1) {
        // Each job gets its own transaction, so that only a job that is too large for the disk
        // fails.
        for (const auto& one : batch) co_await commit({one});
        co_return;
    }
    for (const auto& request : batch) {
        request->failure = failure;
        request->decided.complete({});
    }
}

Task<void> EnqueueBatches::write(const Batch& batch) {
    Stores scope{Store::jobs, Store::quarantine};
    const bool values = std::any_of(batch.begin(), batch.end(), [](const auto& request) {
        return request->spec.payload.by_value || !request->spec.key.empty();
    });
    if (values) scope = scope | Stores{Store::data};
    QueueChanges changes;
    std::vector<QueueRequest*> requests;
    for (const auto& request : batch) {
        request->refusal.reset();
        requests.push_back(request.get());
    }
    const auto transaction = co_await open_.begin(scope, Access::write, open_.options.durability);
    auto rows = open_.rows(*transaction, changes);
    co_await rows.read_head();
    JobIntake intake(rows);
    co_await intake.enqueue(std::move(requests));
    intake.put_fresh();
    if (rows.touched) {
        if (rows.head.paused == QueueHead::Paused::by_failure) {
            rows.head.paused = QueueHead::Paused::no;
            changes.add(QueueEvent::Kind::resumed, {});
        }
        co_await rows.write_head();
        rows.prove();
        open_.announce_commit();
        poller_.expect();
        co_await transaction->commit();
    }
    for (const auto& request : batch) {
        if (request->refusal) continue;
        request->receipt.count = rows.head.count;
        awaited_.expect(request->receipt.id);
        poller_.start();
        unhandled_.start();
    }
    news_.publish(changes);
}

void EnqueueBatches::close() {
    for (const auto& request : std::exchange(waiting_, {})) {
        request->failure = queue_closed();
        request->decided.complete({});
    }
}

}  // namespace tabacus
