// The locks of one namespace in one tab: one queue for each name, one channel, the page's life.
#include <algorithm>
#include <set>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

struct LockTable::Parts {
    Parts(World& of, std::string_view name_space, NoticeHandler on_notice)
        : names(name_space),
          context{of,
                  names,
                  {of, names, identifier_of(of.random().bits()), on_notice},
                  on_notice,
                  nullptr} {}

    LockQueue& queue(std::string_view name) {
        auto key = escaped(name);
        auto& queue = context.queues[key];
        if (!queue) queue = std::make_shared<LockQueue>(context, key, std::string(name));
        return *queue;
    }
    void open_channel();
    void on_message(std::string_view text);
    void on_lifecycle(LifecycleEvent event);
    void suspend(std::string_view reason);
    void resume();
    /// A copy: a callback may open another lock.
    [[nodiscard]] std::vector<std::shared_ptr<LockQueue>> all() const {
        std::vector<std::shared_ptr<LockQueue>> queues;
        queues.reserve(context.queues.size());
        for (const auto& [key, queue] : context.queues) queues.push_back(queue);
        return queues;
    }

    Names names;
    LockContext context;
    Subscription lifecycle;
};

void LockTable::Parts::open_channel() {
    context.channel = context.world.channel(names.locks_channel());
    if (!context.channel) return;
    context.channel->on_message([this](std::string_view text) { on_message(text); });
}

void LockTable::Parts::on_message(std::string_view text) {
    const auto message = parse_lock_message(text);
    if (!message || context.closed) return;  // another version's, or a stranger's
    if (message->kind == LockMessage::Kind::echo) {
        if (message->detail.empty()) return;
        const auto waiting = context.echoes.extract(message->detail[0]);
        if (!waiting.empty()) waiting.mapped().complete({});
        return;
    }
    // Whatever lock it is of: this tab may ask for it next.
    if (message->kind == LockMessage::Kind::released) context.note_gone(message->detail);
    const auto found = context.queues.find(message->key);
    if (found != context.queues.end()) std::shared_ptr(found->second)->on_message(*message);
}

void LockTable::Parts::on_lifecycle(LifecycleEvent event) {
    if (context.closed) return;
    switch (event) {
        case LifecycleEvent::hidden:
            for (const auto& queue : all()) queue->became_hidden();
            break;
        case LifecycleEvent::frozen:
            suspend("frozen");
            break;
        case LifecycleEvent::page_hide:
            suspend("page-hidden");
            context.channel.reset();
            context.world.database().close();
            break;
        case LifecycleEvent::page_show:
        case LifecycleEvent::resumed:
            resume();
            break;
        case LifecycleEvent::visible:
            break;
    }
}

void LockTable::Parts::suspend(std::string_view reason) {
    context.suspended = true;
    for (const auto& queue : all()) queue->suspend(reason);
    context.epochs.transactions().abort_all();
}

void LockTable::Parts::resume() {
    if (!std::exchange(context.suspended, false)) return;
    if (!context.channel) open_channel();
    for (const auto& queue : all()) queue->resume();
}

LockTable::LockTable(World& world, std::string_view name_space, NoticeHandler on_notice)
    : parts_(std::make_unique<Parts>(world, name_space, std::move(on_notice))) {
    parts_->open_channel();
    parts_->lifecycle = world.lifecycle().on_event(
        [parts = parts_.get()](LifecycleEvent event) { parts->on_lifecycle(event); });
}

LockTable::~LockTable() = default;

Exclusion LockTable::exclusion() const {
    if (parts_->context.world.locks().available()) return Exclusion::web_locks;
    return fenced() ? Exclusion::lease : Exclusion::page;
}

bool LockTable::fenced() const { return parts_->context.epochs.fenced(); }

const std::string& LockTable::tab() const { return parts_->context.epochs.tab(); }

Task<Held> LockTable::acquire(std::string name, LockOptions options) {
    return parts_->queue(name).acquire(std::move(options));
}

Task<std::vector<Held>> LockTable::acquire_all(std::vector<std::string> names,
                                               LockOptions options) {
    // One order for everybody: no two that take several this way can wait for each other.
    const std::set<std::string> ordered(names.begin(), names.end());
    if (ordered.size() < names.size()) {
        co_await fail(ErrorCode::invalid_argument, "a lock is named twice");
    }
    const auto began_ms = parts_->context.world.clock().now_ms();
    // All or nothing: who loses one of them waits no more for the next.
    const AbortSignal stop;
    if (options.signal) {
        if (options.signal->aborted()) stop.abort();
        options.signal->on_abort([stop] { stop.abort(); });
    }
    std::map<std::string, Held> held;
    const auto lost = [&held] {
        return std::any_of(held.begin(), held.end(),
                           [](const auto& one) { return !one.second.held(); });
    };
    const Error broken(ErrorCode::lock_lost, "one of the locks was lost before all were granted");
    for (const auto& name : ordered) {
        auto own = options;
        own.signal = stop;
        own.spend(parts_->context.world.clock().now_ms() - began_ms);
        if (!held.empty()) own.within = held.rbegin()->second.grant();
        auto one = co_await attempt(acquire(name, std::move(own)));
        if (lost()) co_await fail(broken);
        if (!one) co_await fail(one.error());
        if (!one.value()) co_return std::vector<Held>();
        one.value().on_lost([stop](std::string_view) { stop.abort(); });
        held.emplace(name, std::move(one.value()));
    }
    std::vector<Held> all;
    all.reserve(names.size());
    for (const auto& name : names) all.push_back(std::move(held[name]));
    co_return all;
}

Task<std::vector<LockRequestInfo>> LockTable::query(std::string name) {
    return parts_->queue(name).query();
}

Task<std::vector<std::string>> LockTable::names() {
    auto& context = parts_->context;
    std::set<std::string> found;
    for (const auto& queue : parts_->all()) {
        if (queue->in_use()) found.insert(queue->name());
    }
    if (context.world.locks().available()) {
        const auto snapshot = co_await context.world.locks().query();
        const auto note = [&](const LockInfo& lock) {
            for (const auto& prefix : {context.names.lock(""), context.names.entry_lock("")}) {
                if (!lock.name.starts_with(prefix)) continue;
                const auto name = unescaped(std::string_view(lock.name).substr(prefix.size()));
                if (name) found.insert(*name);
            }
        };
        for (const auto& lock : snapshot.held) note(lock);
        for (const auto& lock : snapshot.pending) note(lock);
    } else if (fenced()) {
        // A request that waits is listed too: it waits for a holder of the same lock.
        for (auto& name : co_await context.epochs.leased()) found.insert(std::move(name));
    }
    co_return std::vector<std::string>(found.begin(), found.end());
}

Task<std::unique_ptr<Transaction>> LockTable::begin(Stores scope, Access access,
                                                    Durability durability) {
    return parts_->context.epochs.transactions().begin(scope, access, durability);
}

Task<bool> LockTable::is_locked(std::string name) { return parts_->queue(name).is_locked(); }

Task<void> LockTable::wait_for_unlock(std::string name, std::optional<AbortSignal> signal,
                                      std::optional<double> timeout_ms) {
    return parts_->queue(name).wait_for_unlock(std::move(signal), timeout_ms);
}

void LockTable::broadcast(std::string_view name, const std::string& about) {
    parts_->queue(name).broadcast(about);
}

Subscription LockTable::on_broadcast(std::string_view name,
                                     Function<void(const std::string&)> callback) {
    return parts_->queue(name).on_broadcast(std::move(callback));
}

Subscription LockTable::on_change(std::string_view name, Function<void()> callback) {
    return parts_->queue(name).on_change(std::move(callback));
}

void LockTable::close() {
    if (std::exchange(parts_->context.closed, true)) return;
    for (const auto& queue : parts_->all()) queue->close();
    parts_->lifecycle = {};
    parts_->context.channel.reset();
}

bool LockTable::closed() const { return parts_->context.closed; }

int LockTable::evictions() const { return parts_->context.evictions; }

bool LockTable::idle() { return parts_->context.scope.idle(); }

}  // namespace tabacus
