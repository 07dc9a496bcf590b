// What the tabs tell each other of a lock, and whom a tab tells of it.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {

void LockQueue::announce() {
    context_.scope.spawn(tell_released());
    changed();
}

void LockQueue::toll(const std::string& about) {
    context_.post(LockMessage::Kind::bell, key_, {about});
    hearers_.emit(about);
}

/// After the deed, which is done by a microtask. Who waits hears of it by the grant, which a
/// message at the same time would hold up: by a tenth in Chromium on two cores.
Task<void> LockQueue::tell_released() {
    const bool hands_over = context_.world.locks().available() && !rivals_.empty() &&
                            std::none_of(rivals_.begin(), rivals_.end(),
                                         [](const Rival& rival) { return rival.tries; });
    const auto self = weak_from_this();
    co_await soon();
    if (self.expired()) co_return;
    if (hands_over) {
        context_.post_at_leisure(LockMessage::Kind::handed, key_);
    } else {
        context_.post(LockMessage::Kind::released, key_);
    }
}

void LockQueue::changed() {
    watchers_.call();
    hearers_.emit({});
}

/// Who watches is told of a request that has to wait: of one that need not, when it is granted.
void LockQueue::tell_of_waiter() {
    if (held_seen_ || (possession_ && !possession_->active.empty())) watchers_.call();
}

void LockQueue::on_message(const LockMessage& message) {
    switch (message.kind) {
        case LockMessage::Kind::want:
            heard_want(message);
            ring();
            tell_of_waiter();
            break;
        case LockMessage::Kind::busy:
            // Of an earlier want it says nothing any more.
            if (!taking_ ||
                message.detail != std::vector{context_.epochs.tab(), std::to_string(wanted_)})
                break;
            busy_heard_ = true;
            answer_bell_.complete({});
            break;
        case LockMessage::Kind::released:
            held_seen_ = false;
            [[fallthrough]];
        case LockMessage::Kind::handed:
            answer_bell_.complete({});
            turnstile_->nudge();
            changed();
            break;
        case LockMessage::Kind::taken:
            ++moves_;
            held_seen_ = true;
            changed();
            break;
        case LockMessage::Kind::ask:
        case LockMessage::Kind::tell:
            answer(message);
            break;
        case LockMessage::Kind::probe:
            on_probe(message);
            break;
        case LockMessage::Kind::victim:
            on_victim(message);
            break;
        case LockMessage::Kind::bell:
            hearers_.emit(message.detail.empty() ? std::string() : message.detail[0]);
            break;
        case LockMessage::Kind::hear:
            break;
    }
}

}  // namespace tabacus
