#include "unhandled_jobs.hpp"

#include <algorithm>

namespace tabacus {
namespace {

/// How long a job that is due may wait while no slot of the queue runs jobs.
constexpr double unhandled_ms = 10'000;
/// What read() returns if the queue is empty.
constexpr double empty_queue = -1;
/// What read() returns if the queue is paused or a slot is at work: an event comes when that ends.
constexpr double until_event = -2;

}  // namespace

Task<void> UnhandledJobs::run() {
    double wait_ms = unhandled_ms;
    bool stands = false;
    while (wait_ms > 0 && !open_.closed) {
        const auto works = works_;
        co_await open_.context.world.clock().sleep(wait_ms);
        if (open_.closed) break;
        auto answer = co_await attempt(read());
        wait_ms = answer ? answer.value() : unhandled_ms;
        stands = wait_ms == 0 && works == works_;
        // The event for which this would wait may have come while it read.
        const bool missed = wait_ms == until_event && works != works_;
        if (missed || (wait_ms == 0 && !stands)) wait_ms = unhandled_ms;
    }
    checking_ = false;
    jobs_left_ = stands || wait_ms == until_event;
    if (!stands) co_return;
    open_.context.on_notice({Notice::Kind::warning, "unhandled-job",
                             "Jobs of a queue are due, and no tab has handled them for 10 s.",
                             open_.name, "", 0});
}

/// Returns 0 if jobs are due and no slot has claimed a job. Otherwise returns how long to wait
/// before the next read; a slot that has claimed jobs may take any length of time.
Task<double> UnhandledJobs::read() {
    const auto transaction = co_await open_.begin_read({Store::jobs});
    auto slots_read = transaction->list(Store::jobs, open_.row_key("s/"));
    auto jobs_read = transaction->list(Store::jobs, open_.row_key("r/"), 1);
    auto delayed_read = transaction->list(Store::jobs, open_.row_key("w/"), 1);
    const auto row = co_await transaction->get(Store::jobs, open_.row_key("h"));
    const auto head = row ? parse_queue_head(row->value) : std::nullopt;
    if (!head || head->count == 0) co_return empty_queue;
    if (head->paused != QueueHead::Paused::no) co_return until_event;
    const auto slots = co_await std::move(slots_read);
    const bool works = std::ranges::any_of(slots, [](const Row& slot) {
        const auto parsed = parse_slot_row(slot.value);
        return parsed && !parsed->entries.empty();
    });
    if (works) co_return until_event;
    if (!(co_await std::move(jobs_read)).empty()) co_return 0;
    for (const auto& delayed : co_await std::move(delayed_read)) {
        const auto job = parse_job(delayed.value);
        const auto left_ms = job ? static_cast<double>(job->due_ms) - open_.context.steady_ms() : 0;
        co_return std::max(left_ms + unhandled_ms, 0.0);
    }
    co_return unhandled_ms;
}

}  // namespace tabacus
