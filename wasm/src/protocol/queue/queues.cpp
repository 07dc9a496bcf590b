// Queues: all queues of a namespace in one tab, which follow the page's lifecycle together.
//
//   state     meaning                                       what ends the state
//   active    transactions begin; events come and go        frozen, page_hide: stopped; close()
//   stopped   no transaction begins until the page goes     page_show, resumed: active; close()
//             on; after page_hide there is no channel
//   closed    every call fails with closed                  nothing
#include <cmath>
#include <map>

#include "queue_parts.hpp"

namespace tabacus {

struct Queues::Parts {
    Parts(World& world, std::string_view name_space, LockTable& locks,
          const NoticeHandler& on_notice)
        : context{world,       Names(name_space), locks,
                  locks.tab(), on_notice,         AbortableTransactions(world),
                  scope} {}

    void open_channel();
    void on_lifecycle(LifecycleEvent event);
    [[nodiscard]] std::int64_t ahead_of_wall_ms() const;
    void on_ahead(double ahead_ms);

    QueueContext context;
    std::map<std::string, std::unique_ptr<Queue>, std::less<>> queues;  // by escaped name
    Subscription lifecycle;
    bool closed = false;
    bool adopts = true;  // this tab may adopt the epoch of another tab
    Scope scope;         // last: what runs in it uses all of the above
};

Queues::Queues(World& world, std::string_view name_space, LockTable& locks,
               const NoticeHandler& on_notice)
    : parts_(std::make_unique<Parts>(world, name_space, locks, on_notice)) {
    parts_->open_channel();
    parts_->lifecycle = world.lifecycle().on_event(
        [parts = parts_.get()](LifecycleEvent event) { parts->on_lifecycle(event); });
}

Queues::~Queues() = default;

void Queues::Parts::open_channel() {
    context.channel = context.world.channel(context.names.queues_channel());
    if (!context.channel) return;
    context.channel->on_message([this](std::string_view text) {
        if (closed) return;
        if (const auto committing = parse_commit_notice(text)) {
            const auto named = queues.find(*committing);
            if (named != queues.end()) named->second->parts_->poller.expect();
            return;
        }
        if (const auto ahead_ms = parse_ahead(text)) {
            return on_ahead(static_cast<double>(*ahead_ms));
        }
        auto message = parse_queue_event(text, false);
        if (!message) return;  // another version or another program sent it
        const auto found = queues.find(message->queue);
        if (found == queues.end()) return;
        auto& parts = *found->second->parts_;
        const bool named = parts.open.follows_jobs || parts.news.needs_jobs(message->event);
        if (named) message = parse_queue_event(text);
        if (message) parts.news.receive(message->event);
    });
    context.channel->post(format_ahead(context.tab, ahead_of_wall_ms()));
}

/// Returns by how much this tab's clock is ahead of the wall clock; 0 if they agree. They disagree
/// if the wall clock was set, or if the machine slept, since the tab was opened.
std::int64_t Queues::Parts::ahead_of_wall_ms() const {
    constexpr double agreement_ms = 1'000;
    const auto ahead_ms = context.steady_ms() - context.world.clock().now_ms();
    return std::abs(ahead_ms) < agreement_ms ? 0 : static_cast<std::int64_t>(ahead_ms);
}

/// Handles the message format_ahead(). A tab that was opened asks with 0, and adopts the first
/// answer. A page that comes back from the back/forward cache sends its own number to the tabs that
/// were opened meanwhile.
void Queues::Parts::on_ahead(double ahead_ms) {
    if (ahead_ms == 0) {
        const auto own_ms = ahead_of_wall_ms();
        if (own_ms != 0) context.channel->post(format_ahead(context.tab, own_ms));
    } else if (std::exchange(adopts, false)) {
        const auto& clock = context.world.clock();
        context.epoch_ms = clock.now_ms() + ahead_ms - clock.monotonic_ms();
        for (const auto& [key, queue] : queues) queue->parts_->signal.clock_changed();
    }
}

/// Handles the event after the locks, which notify workers that they lost their claims.
void Queues::Parts::on_lifecycle(LifecycleEvent event) {
    if (closed) return;
    if (event == LifecycleEvent::frozen || event == LifecycleEvent::page_hide) {
        context.transactions.stop();
    }
    if (event == LifecycleEvent::page_hide) {
        context.channel.reset();
        context.world.database().close();
    }
    if (event == LifecycleEvent::page_show || event == LifecycleEvent::resumed) {
        context.transactions.resume();
        if (!context.channel) open_channel();
        for (const auto& [key, queue] : queues) {
            queue->parts_->signal.wake();
            queue->parts_->collector.start_if_awaited();
        }
    }
}

bool Queues::available() const { return parts_->context.world.database().available(); }

const std::string& Queues::tab() const { return parts_->context.tab; }

Queue& Queues::queue(const std::string& name, QueueOptions options, QueueCallbacks callbacks) {
    auto key = escaped(name);
    auto& queue = parts_->queues[key];
    if (!queue) {
        queue = std::make_unique<Queue>(std::make_unique<Queue::Parts>(OpenQueue{
            parts_->context, name, std::move(key), options, std::move(callbacks), false}));
    }
    return *queue;
}

void Queues::online() {
    for (const auto& [key, queue] : parts_->queues) queue->parts_->control.online();
}

void Queues::close() {
    if (std::exchange(parts_->closed, true)) return;
    for (const auto& [key, queue] : parts_->queues) {
        auto& parts = *queue->parts_;
        if (std::exchange(parts.open.closed, true)) continue;
        parts.batches.close();
        parts.workers.stop();
    }
    parts_->context.transactions.resume();
    parts_->lifecycle = {};
    parts_->context.channel.reset();
}

}  // namespace tabacus
