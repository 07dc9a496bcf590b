// LockTable passes each call to the queue of the lock's name.
#include <algorithm>
#include <set>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

LockTable::LockTable(World& world, std::string_view name_space, NoticeHandler on_notice)
    : context_(std::make_unique<LockContext>(world, name_space, std::move(on_notice))) {}

LockTable::~LockTable() = default;

Exclusion LockTable::exclusion() const {
    if (context_->world.locks().available()) return Exclusion::web_locks;
    return fenced() ? Exclusion::lease : Exclusion::page;
}

bool LockTable::announced() const {
    return exclusion() == Exclusion::web_locks && context_->messages.available();
}

bool LockTable::fenced() const { return context_->epochs.fenced(); }

const std::string& LockTable::tab() const { return context_->epochs.tab(); }

const Names& LockTable::naming() const { return context_->names; }

Task<Held> LockTable::acquire(std::string name, LockOptions options) {
    const auto queue = context_->queue(name);
    return queue->acquire(queue, std::move(options));
}

Task<std::vector<Held>> LockTable::acquire_all(std::vector<std::string> names,
                                               LockOptions options) {
    // All callers acquire them in the same order, so that no two callers can wait for each other.
    const std::set<std::string> ordered(names.begin(), names.end());
    if (ordered.size() < names.size()) {
        co_await fail(ErrorCode::invalid_argument, "a lock is named twice");
    }
    const auto began_ms = context_->world.clock().monotonic_ms();
    // All or nothing: a caller that loses one of them does not wait for the next.
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
        own.spend(context_->world.clock().monotonic_ms() - began_ms);
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
    const auto queue = context_->queue(name);
    return queue->observer().query(queue);
}

Task<std::vector<std::string>> LockTable::names() {
    auto& context = *context_;
    std::set<std::string> found;
    for (const auto& queue : context_->all_queues()) {
        if (queue->in_use()) found.insert(queue->name());
    }
    if (context.world.locks().available()) {
        const auto answer = co_await context.queries.query();
        if (!answer->snapshot.complete) {
            co_await fail(ErrorCode::unavailable,
                          "the browser refuses to tell which locks are held");
        }
        const auto note = [&](const LockInfo& lock) {
            for (const auto& prefix : {context.names.lock(""), context.names.entry_lock("")}) {
                if (!lock.name.starts_with(prefix)) continue;
                const auto name = unescaped(std::string_view(lock.name).substr(prefix.size()));
                if (name) found.insert(*name);
            }
        };
        for (const auto& lock : answer->snapshot.held) note(lock);
        for (const auto& lock : answer->snapshot.pending) note(lock);
    } else if (fenced()) {
        // A request that waits is listed too: it waits for a holder of the same lock.
        for (auto& name : co_await context.epochs.leased()) found.insert(std::move(name));
    }
    co_return std::vector<std::string>(found.begin(), found.end());
}

Task<std::unique_ptr<Transaction>> LockTable::begin(Stores scope, Access access,
                                                    Durability durability) {
    co_return co_await context_->epochs.begin(scope, access, durability);
}

Task<bool> LockTable::is_locked(std::string name) {
    const auto queue = context_->queue(name);
    return queue->observer().is_locked(queue);
}

Task<void> LockTable::wait_for_unlock(std::string name, std::optional<AbortSignal> signal,
                                      std::optional<double> timeout_ms) {
    const auto queue = context_->queue(name);
    return queue->observer().wait_for_unlock(queue, std::move(signal), timeout_ms);
}

void LockTable::broadcast(std::string_view name, const std::string& about) {
    context_->queue(name)->broadcast(about);
}

Subscription LockTable::on_broadcast(std::string_view name,
                                     Function<void(const std::string&)> callback) {
    return context_->queue(name)->on_broadcast(std::move(callback));
}

Subscription LockTable::on_change(std::string_view name, Function<void()> callback) {
    return context_->queue(name)->observer().on_change(std::move(callback));
}

void LockTable::store_vanished() { context_->store_vanished(); }

void LockTable::store_settled(bool shared) {
    if (shared) return context_->store_settled();
    context_->store_vanished();  // for what was granted before this tab read the database first
    context_->state.cut_off();
    close();
}

Error LockTable::end_error() const { return context_->state.end_error(); }

void LockTable::close() {
    if (!context_->state.close()) return;
    for (const auto& queue : context_->all_queues()) queue->close();
    context_->liveness.release();
    context_->lifecycle = {};
    context_->messages.close();
}

bool LockTable::closed() const { return context_->state.closed(); }

bool LockTable::idle() { return context_->idle(); }

bool LockTable::keeps(std::string_view name) const {
    return context_->queues.contains(escaped(name));
}

}  // namespace tabacus
