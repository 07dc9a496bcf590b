#include "queue_poller.hpp"

namespace tabacus {
namespace {

/// How often the store is read. A lost message delays an outcome by no more than this, and the end
/// of Queue::idle() by no more than twice this.
constexpr double ask_again_ms = 1'000;

}  // namespace

Task<void> QueuePoller::poll_periodically() {
    while (!parts_.open.closed) {
        const bool asking = !parts_.awaited.empty() || !parts_.idle.empty();
        const bool working = parts_.kinds.started() && (expecting_ || !parts_.open.announced());
        if (!asking && !working) break;
        const auto version = parts_.status.version;
        co_await parts_.open.context.world.clock().sleep(asking ? ask_again_ms : work_again_ms);
        if (parts_.open.closed) break;
        // While events arrive, a tab that only waits for an idle queue does not read.
        const bool informed = version != parts_.status.version && parts_.awaited.empty();
        if (asking && informed && !expecting_) continue;
        expecting_ = false;
        const auto polled = co_await attempt(poll());
        if (polled) continue;
        expecting_ = polled.error().code() != ErrorCode::version_mismatch;
        if (expecting_) continue;
        parts_.idle.fail(polled.error());
    }
    polling_ = false;
}

Task<void> QueuePoller::poll() {
    auto& [open, status, awaited, collector, idle, news, signal, kinds] = parts_;
    std::optional<QueueHead> head;
    JobOutcomes happened;
    {
        const auto transaction = co_await open.begin_read({Store::jobs});
        auto outcomes_read = transaction->list(Store::jobs, open.outcomes_prefix(), 1);
        auto head_read = transaction->get(Store::jobs, open.row_key("h"));
        // Even if a newer version has the queue, so that its head cannot be read, that version may
        // have run jobs of this tab.
        if (!(co_await std::move(outcomes_read)).empty()) collector.start();
        const auto row = co_await std::move(head_read);
        if (row) head = parse_queue_head(row->value);
        if (head && awaited.any_unknown()) {
            happened = co_await awaited.resolve_unknown(*transaction, head->born);
        }
    }
    awaited.deliver(std::move(happened));
    if (head) {
        news.note(head->version, head->count);
        status.paused = head->paused != QueueHead::Paused::no;
        if (head->count > 0 && !status.paused) signal.wake();
    }
    awaited.lose_foreign(head ? head->born : std::string());
    if (!head) news.note(status.version + 1, 0);
}

}  // namespace tabacus
