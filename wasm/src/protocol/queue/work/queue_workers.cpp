#include "queue_workers.hpp"

namespace tabacus {
namespace {

/// How long a worker pauses after a failure of the store.
constexpr double after_failure_ms = 1'000;

/// Whether a newer version has the queue. The worker then waits for a message that it can read.
bool newer_has_queue(const Error& error) { return error.code() == ErrorCode::version_mismatch; }

}  // namespace

void QueueWorkers::start() {
    if (parts_.open.closed) return;
    if (parts_.kinds.start()) slots_.start_requests();
    for (int slot = 0; slot < parts_.open.options.concurrency; ++slot) {
        if (slots_.occupy(slot)) parts_.open.context.scope.spawn(work(slot));
    }
    parts_.poller.start();
    parts_.signal.wake();
}

void QueueWorkers::stop() {
    parts_.kinds.stop();
    slots_.stop_requests();
    parts_.signal.wake();
}

Task<void> QueueWorkers::leave() {
    stop();
    parts_.runs.lose_all("closed");
    while (!slots_.empty()) co_await slots_.next_release();
}

Task<void> QueueWorkers::work(int slot) {
    std::uint64_t seen = 0;
    while (parts_.kinds.working()) {
        if (seen == parts_.signal.count()) {
            co_await parts_.signal.next();
            continue;
        }
        HeldSlot held_slot(slot);
        auto held = co_await attempt(slots_.request(slot));
        seen = parts_.signal.count();
        bool served = !held && newer_has_queue(held.error());
        if (held) {
            held_slot.held = std::move(held.value());
            const auto outcome = co_await attempt(server_.serve(held_slot));
            served = outcome || newer_has_queue(outcome.error());
        }
        // If the lock table has ended, this tab can never run jobs again.
        if (parts_.open.context.locks.closed()) stop();
        if (served || !parts_.kinds.working()) continue;
        co_await parts_.open.context.world.clock().sleep(after_failure_ms);
        seen = 0;
    }
    slots_.release(slot);
    if (parts_.kinds.working()) start();
}

}  // namespace tabacus
