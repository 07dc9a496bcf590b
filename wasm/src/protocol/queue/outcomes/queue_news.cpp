#include "queue_news.hpp"

#include <algorithm>
#include <cmath>

#include "protocol/common/record.hpp"

namespace tabacus {

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
            parts_.signal.wake();  // what is claimed ahead does not begin
            break;
        case Kind::resumed:
            parts_.status.paused = false;
            parts_.signal.wake();
            break;
        case Kind::returned:
            // A worker that was lost may have settled the job before, and never reported it.
            if (foreign) parts_.collector.start_if_awaited();
            [[fallthrough]];
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
    const auto& channel = parts_.open.context.channel;
    for (const auto& event : events) {
        if (channel) channel->post(format_queue_event(parts_.open.key, event));
    }
    parts_.awaited.deliver(std::move(outcomes));
    for (const auto& event : events) receive(event);
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
