#include "lock_context.hpp"

#include <algorithm>
#include <utility>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

LockContext::LockContext(World& of, std::string_view name_space, NoticeHandler handler)
    : world(of),
      names(name_space),
      epochs(of, names, identifier_of(of.random().bits()), handler, scope),
      queries(of.locks(), scope),
      wakefulness(of.clock(), scope),
      on_notice(std::move(handler)),
      messages(*this),
      departures(of, names),
      liveness(*this),
      state(of.lifecycle().prerendering()) {
    messages.open();
    lifecycle = world.lifecycle().on_event([this](LifecycleEvent event) { on_lifecycle(event); });
}

std::shared_ptr<LockQueue> LockContext::queue(std::string_view name) {
    const auto key = escaped(name);
    if (queues.size() >= remove_at_ && !queues.contains(key)) remove_unused_queues();
    auto& queue = queues[key];
    if (!queue) queue = LockQueue::make(*this, key, name);
    return queue;
}

/// A lease's queue stays, because the numbers of its heartbeats must not begin anew.
void LockContext::remove_unused_queues() {
    if (!world.locks().available()) return;
    std::erase_if(queues, [this](const auto& entry) {
        const auto& [key, queue] = entry;
        const bool unused = queue.use_count() == 1 && queue->unused();
        if (unused) epochs.forget(key);
        return unused;
    });
    remove_at_ = std::max(kept_queues, 2 * queues.size());
}

bool LockContext::idle() {
    return scope.idle() && std::all_of(queues.begin(), queues.end(),
                                       [](const auto& entry) { return entry.second->idle(); });
}

std::vector<std::shared_ptr<LockQueue>> LockContext::all_queues() const {
    std::vector<std::shared_ptr<LockQueue>> all;
    all.reserve(queues.size());
    for (const auto& [key, queue] : queues) all.push_back(queue);
    return all;
}

void LockContext::on_lifecycle(LifecycleEvent event) {
    if (state.closed()) return;
    switch (event) {
        case LifecycleEvent::hidden:
            for (const auto& queue : all_queues()) queue->became_hidden();
            break;
        case LifecycleEvent::frozen:
            suspend("frozen");
            break;
        case LifecycleEvent::page_hide:
            suspend("page-hidden");
            messages.close();
            world.database().close();
            break;
        case LifecycleEvent::page_show:
        case LifecycleEvent::resumed:
            resume();
            break;
        case LifecycleEvent::visible:
            for (const auto& queue : all_queues()) queue->became_visible();
            break;
    }
}

void LockContext::lose_all(std::string_view reason) {
    for (const auto& queue : all_queues()) queue->suspend(reason);
    liveness.release();
    epochs.abort_transactions();
}

void LockContext::suspend(std::string_view reason) {
    state.suspend();
    lose_all(reason);
}

void LockContext::resume() {
    if (!state.resume()) return;
    messages.open();
    resume_queues();
}

void LockContext::resume_queues() {
    if (state.stopped()) return;
    for (const auto& queue : all_queues()) queue->resume();
}

// --- The loss of the database (protocol/common/store_loss_detector.hpp) -------------------------

void LockContext::store_vanished() {
    if (state.closed()) return;
    state.lose_store();
    lose_all("site-data-cleared");
}

void LockContext::store_settled() {
    state.settle_store();
    resume_queues();
}

}  // namespace tabacus
