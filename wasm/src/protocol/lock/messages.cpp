// The messages of tabs about a lock, and the notifications within a tab.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {

void LockQueue::announce() {
    context_.scope.spawn(post_released());
    changed();
}

void LockQueue::broadcast(const std::string& about) {
    context_.post(LockMessage::Kind::broadcast, key_, {about});
    broadcast_listeners_.emit(about);
}

/// Posts after the release itself, which a microtask does. A waiting tab learns of the release by
/// its grant, which a message at the same time would hold up: by a tenth in Chromium on two cores.
Task<void> LockQueue::post_released() {
    const bool hands_over =
        context_.world.locks().available() && !contenders_.empty() &&
        std::none_of(contenders_.begin(), contenders_.end(),
                     [](const Contender& contender) { return contender.tries; });
    const auto self = weak_from_this();
    co_await await_pending_releases();
    if (self.expired()) co_return;
    if (hands_over) {
        context_.post_deferred(LockMessage::Kind::handed, key_);
    } else {
        context_.post(LockMessage::Kind::released, key_);
    }
}

void LockQueue::changed() {
    change_listeners_.call();
    broadcast_listeners_.emit({});
}

/// Notifies watchers of a request that has to wait. A request that need not wait is notified when
/// it is granted.
void LockQueue::notify_of_waiter() {
    if (held_seen_ || (hold_ && !hold_->active.empty())) change_listeners_.call();
}

void LockQueue::on_message(const LockMessage& message) {
    switch (message.kind) {
        case LockMessage::Kind::request:
            on_request(message);
            wake();
            notify_of_waiter();
            break;
        case LockMessage::Kind::busy:
            // An answer to an earlier request no longer counts.
            if (!acquiring_ || message.detail != std::vector{context_.epochs.tab(),
                                                             std::to_string(acquiring_position_)})
                break;
            busy_received_ = true;
            answer_signal_.complete({});
            break;
        case LockMessage::Kind::released:
            held_seen_ = false;
            [[fallthrough]];
        case LockMessage::Kind::handed:
            answer_signal_.complete({});
            native_lock_->on_possible_release();
            changed();
            break;
        case LockMessage::Kind::taken:
            ++moves_;
            held_seen_ = true;
            changed();
            break;
        case LockMessage::Kind::query:
            report_requests(message);
            break;
        case LockMessage::Kind::report:
            collect_report(message);
            break;
        case LockMessage::Kind::probe:
            on_probe(message);
            break;
        case LockMessage::Kind::victim:
            on_victim(message);
            break;
        case LockMessage::Kind::broadcast:
            broadcast_listeners_.emit(message.detail.empty() ? std::string() : message.detail[0]);
            break;
        case LockMessage::Kind::echo:
            break;
    }
}

}  // namespace tabacus
