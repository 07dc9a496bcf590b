#include "queue_news.hpp"

#include <algorithm>
#include <cmath>

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// How long events are gathered before other tabs receive them.
constexpr double gathered_ms = 50;

}  // namespace

void QueueNews::note(std::int64_t version, std::int64_t count) {
    if (!parts_.status.learn(version, count) || count > 0 || parts_.idle.empty()) return;
    if (parts_.awaited.empty()) return parts_.idle.settle();
    parts_.collector.start();
}

void QueueNews::receive(const QueueEvent& event) {
    note(event.version, event.count);
    using Kind = QueueEvent::Kind;
    const bool foreign = event.tab != parts_.open.context.tab;
    if (event.kind != Kind::queued) parts_.unhandled.on_work();
    switch (event.kind) {
        case Kind::paused:
            parts_.status.paused = true;
            parts_.signal.wake();  // so that no job that is claimed ahead begins
            break;
        case Kind::resumed:
            parts_.status.paused = false;
            parts_.signal.wake();
            break;
        case Kind::returned:
            // A lost worker may have settled the job before, and not have reported it.
            if (foreign) parts_.collector.start_if_awaited();
            parts_.signal.wake(false);
            break;
        case Kind::queued:
        case Kind::changed:
            parts_.signal.wake();
            break;
        case Kind::failed:
            parts_.signal.wake();
            [[fallthrough]];
        case Kind::done:
            if (foreign) parts_.collector.start_if_awaited();
            break;
        case Kind::cancelled:
            if (foreign) parts_.collector.start_if_awaited();
            parts_.runs.report_cancelled(event.fields);
            parts_.signal.wake();
            break;
        case Kind::running:
        case Kind::progress:
            break;
    }
    parts_.open.callbacks.event(event);
}

void QueueNews::publish(QueueChanges& changes) {
    auto outcomes = std::exchange(changes.outcomes, {});
    const auto events = std::exchange(changes.events, {});
    for (const auto& event : events) send(event);
    send_gathered_if_due();
    parts_.awaited.deliver(std::move(outcomes));
    for (const auto& event : events) receive(event);
}

/// Gathers the event if it is of the kind `running` or `done` in a queue of several slots. Posts
/// any other event, after those that were gathered.
void QueueNews::send(const QueueEvent& event) {
    const bool gathers = parts_.open.options.concurrency > 1;
    if (gathers && event.kind == QueueEvent::Kind::running) {
        const auto& slot = event.fields.back();
        std::erase_if(running_, [&](const auto& it) { return it.event.fields.back() == slot; });
        running_.push_back({parts_.open.monotonic_ms(), event});
        done_.version = event.version;
        done_.count = event.count;
    } else if (gathers && event.kind == QueueEvent::Kind::done &&
               done_.fields.size() < event_fields_max) {
        forget_claims_of(event.fields);
        auto fields = std::exchange(done_.fields, {});
        fields.insert(fields.end(), event.fields.begin(), event.fields.end());
        done_ = event;
        done_.fields = std::move(fields);
    } else {
        send_gathered(parts_.open.monotonic_ms());
        post(event);
    }
}

/// Forgets the claims whose first job is done: they need not be posted any more.
void QueueNews::forget_claims_of(const std::vector<std::string>& done) {
    std::erase_if(running_, [&](const auto& claim) {
        return std::find(done.begin(), done.end(), claim.event.fields.front()) != done.end();
    });
}

void QueueNews::send_gathered_if_due() {
    if (running_.empty() && done_.fields.empty()) return;
    const auto now_ms = parts_.open.monotonic_ms();
    const auto pause_ms = sent_ms_ ? now_ms - *sent_ms_ : 2 * gathered_ms;
    const bool at_rest = parts_.runs.empty() && running_.empty();
    if (at_rest || pause_ms >= 2 * gathered_ms) {
        send_gathered(now_ms);
    } else if (pause_ms >= gathered_ms) {
        send_gathered(now_ms - gathered_ms);
    }
    if (running_.empty() && done_.fields.empty()) return;
    if (!std::exchange(waiting_, true)) parts_.open.context.scope.spawn(send_later());
}

Task<void> QueueNews::send_later() {
    co_await parts_.open.context.world.clock().sleep(gathered_ms);
    waiting_ = false;
    if (!parts_.open.closed) send_gathered_if_due();
}

/// Posts the claims that were made at `until_ms` or before, and then the jobs that are done. That
/// is the right order, because a job that is done may belong to one of these claims.
void QueueNews::send_gathered(double until_ms) {
    sent_ms_ = parts_.open.monotonic_ms();
    std::erase_if(running_, [&](const auto& claim) {
        const bool old = claim.since_ms <= until_ms;
        if (old) post(claim.event);
        return old;
    });
    if (!done_.fields.empty()) post(std::exchange(done_, {}));
}

void QueueNews::post(const QueueEvent& event) const {
    const auto& channel = parts_.open.context.channel;
    if (channel) channel->post(format_queue_event(parts_.open.key, event));
}

void QueueNews::publish_progress(int number, double fraction, std::string_view note) {
    const auto run = parts_.runs.find(number);
    if (!run) return;
    const auto millionths = std::llround(std::clamp(fraction, 0.0, 1.0) * 1e6);
    QueueChanges changes;
    changes.add(QueueEvent::Kind::progress, {run->id, format_decimal(millionths), note});
    auto& event = changes.events.back();
    event.tab = parts_.open.context.tab;
    event.version = parts_.status.version;
    event.count = parts_.status.count;
    publish(changes);
}

}  // namespace tabacus
