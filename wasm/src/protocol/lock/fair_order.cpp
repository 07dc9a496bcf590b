// Places in line: which requests of this tab other tabs came between, so that first come is first
// served over tabs.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// Words of one other tab, and of all, that are remembered: those that came between the same two
/// requests of this tab count as one. Of more the newest are forgotten.
constexpr std::ptrdiff_t heard_of_tab_max = 1'000;
constexpr std::size_t heard_max = 10'000;
constexpr const char* only_tries = "t";

}  // namespace

/// @param number  To be answered with, if it is to be answered.
void LockQueue::want(const Waiter& waiter, std::optional<std::uint64_t> number) {
    std::vector<std::string> detail{format_since(waiter.since_ms)};
    if (number) detail.push_back(std::to_string(*number));
    if (number && waiter.options.if_available) detail.emplace_back(only_tries);
    context_.post(LockMessage::Kind::want, key_, std::move(detail));
}

/// Whether somebody of another tab came after all of this tab's places, and before this request. A
/// place that was given back is none.
bool LockQueue::behind_a_rival(const Waiter& waiter) const {
    const auto last = places_.empty() ? wanted_ : places_.back().number;
    return !waiter.options.if_available &&
           std::any_of(rivals_.begin(), rivals_.end(),
                       [last](const Rival& rival) { return rival.wants >= last; });
}

/// Whether somebody of another tab came after a place of this tab, and before this request.
bool LockQueue::came_between(std::uint64_t number, const Waiter& waiter) const {
    return std::any_of(rivals_.begin(), rivals_.end(), [&](const Rival& rival) {
        return rival.wants >= number && rival.heard < waiter.id;
    });
}

/// Whether a request that comes asks for another mode than whoever of this tab is before it: who
/// has the lock or stands in line, does so in one mode, and other tabs would not see the other. Or
/// there is only who does not wait: what is asked of the browser for it keeps no place.
bool LockQueue::stands_alone(const Waiter& waiter) const {
    if (waiter.options.if_available) return false;
    const auto before = std::find_if(
        waiting_.rbegin(), waiting_.rend(),
        [](const WaiterPtr& other) { return !other->ended && !other->options.if_available; });
    const auto mode = waiter.options.mode;
    if (before != waiting_.rend()) return (*before)->options.mode != mode;
    if (taking_) return true;
    return possession_ && !possession_->active.empty() && possession_->mode != mode;
}

/// A request that another tab's came before, or that must stand alone, stands in line for itself,
/// unless the tab is let linger for it or takes the lock for it anyway.
/// Who asks from then on came later, and is to know it.
Task<void> LockQueue::line_up(WaiterPtr waiter) {
    const auto self = weak_from_this();
    co_await soon();
    if (self.expired() || waiter->ended || context_.asleep) co_return;
    if (taking_ && front() == waiter) co_return;  // what is asked of the browser is for it
    if (!waiter->alone && !behind_a_rival(*waiter)) co_return;
    if (place_of(*waiter) != places_.end()) co_return;  // it has inherited one
    auto ticket = turnstile_->line_up(waiter->options.mode, [self] {
        if (const auto alive = self.lock()) alive->ring();
    });
    if (!ticket) co_return;
    places_.push_back(
        {++wants_, waiter->options.mode, waiter->id, waiter->since_ms, std::move(ticket)});
    want(*waiter);
}

/// The requests of this tab that stand in line for themselves, and do not: a frozen tab has given
/// its places back, and so has one whose turn came in another mode. And the first of those that
/// wait, if who is before them does not.
void LockQueue::line_up_behind(const Waiter& first) {
    bool behind_a_try = first.options.if_available;
    for (const auto& waiter : waiting_) {
        if (waiter->ended || waiter->options.if_available) continue;
        if (std::exchange(behind_a_try, false)) waiter->alone = true;
        const bool in_line = !waiter->alone || place_of(*waiter) != places_.end();
        if (waiter.get() != &first && !in_line) {
            context_.scope.spawn(line_up(waiter));
        }
    }
}

/// Who waited before the tab did in this place has had its turn, or has gone.
void LockQueue::was_served_before(std::uint64_t number) {
    std::erase_if(rivals_, [&](const Rival& rival) { return rival.wants < number; });
}

/// The last place that is next in line, and shuts the gate for this tab's own sake.
std::optional<LockQueue::Place> LockQueue::place_in_turn() const {
    const auto found = std::find_if(places_.rbegin(), places_.rend(),
                                    [](const Place& one) { return one.ticket->next(); });
    return found == places_.rend() ? std::nullopt : std::optional(*found);
}

std::deque<LockQueue::Place>::iterator LockQueue::place_of(const Waiter& waiter) {
    return std::find_if(places_.begin(), places_.end(),
                        [&](const Place& one) { return one.owner == waiter.id; });
}

/// The place of a request that ended is the next one's, if nobody else came between them. Who ended
/// before it had one leaves it to the next one to take.
void LockQueue::leave_line(const Waiter& waiter) {
    const auto place = place_of(waiter);
    const auto heir = std::find_if(waiting_.begin(), waiting_.end(), [&](const WaiterPtr& other) {
        return other->id > waiter.id && !other->ended && !other->options.if_available;
    });
    const bool has_heir = heir != waiting_.end() && place_of(**heir) == places_.end();
    if (place == places_.end()) {
        if (waiter.alone && !waiter.grant && has_heir && !std::exchange((*heir)->alone, true)) {
            context_.scope.spawn(line_up(*heir));
        }
        return;
    }
    const auto after = std::next(place);
    const bool inherits = has_heir && (*heir)->options.mode == place->mode &&
                          !came_between(place->number, **heir) &&
                          (after == places_.end() || (*heir)->id < after->owner);
    if (inherits) {
        place->owner = (*heir)->id;
        (*heir)->alone |= waiter.alone;
    } else {
        place->ticket->give_back();
        places_.erase(place);
    }
}

void LockQueue::leave_line() {
    for (const auto& place : std::exchange(places_, {})) place.ticket->give_back();
}

/// The oldest of the places in line, whomever it was taken for: nobody stands behind his own tab.
/// Who does not wait needs none, and leaves them to those that do.
LockQueue::Place LockQueue::next_place(const Waiter& first) {
    while (!places_.empty() && !first.options.if_available) {
        auto place = std::move(places_.front());
        places_.pop_front();
        if (place.mode == first.options.mode) return place;
        place.ticket->give_back();
    }
    return {++wants_, first.options.mode, first.id, first.since_ms, nullptr};
}

/// Who would not wait, and hears that the lock is in use, has gone.
void LockQueue::heard_want(const LockMessage& message) {
    const auto& detail = message.detail;
    const bool in_use = possession_ && !possession_->active.empty();
    const bool stolen = std::any_of(stolen_.begin(), stolen_.end(),
                                    [](const auto& robbery) { return !robbery->active.empty(); });
    if ((in_use || stolen) && detail.size() > 1) {
        context_.post(LockMessage::Kind::busy, key_, {message.tab, detail[1]});
    }
    const bool tries = detail.size() > 2 && detail[2] == only_tries;
    if (in_use ? !tries : possession_ || taking_) note_rival(message, tries);
}

void LockQueue::note_rival(const LockMessage& message, bool tries) {
    const auto& detail = message.detail;
    const auto now_ms = context_.world.clock().now_ms();
    const auto told_ms = detail.empty() ? std::nullopt : parse_since(detail[0]);
    Rival rival{.tab = message.tab,
                .since_ms = told_ms.value_or(now_ms),
                .heard_ms = now_ms,
                .heard = newest_,
                .wants = wants_,
                .tries = tries};
    if (rivals_.empty()) contended_ms_ = now_ms;
    // Another one of that tab at the same point orders nothing more.
    std::erase_if(rivals_, [&](const Rival& other) {
        if (other.tab != rival.tab || other.wants != rival.wants || other.heard != rival.heard)
            return false;
        rival.since_ms = std::min(rival.since_ms, other.since_ms);
        rival.tries |= other.tries;
        return true;
    });
    const auto of_tab = std::count_if(rivals_.begin(), rivals_.end(),
                                      [&](const Rival& other) { return other.tab == rival.tab; });
    if (of_tab < heard_of_tab_max && rivals_.size() < heard_max) {
        rivals_.push_back(std::move(rival));
    }
}

/// Whether another tab's request came before. Of what was asked after that was heard it did
/// whatever the clocks say, so that nobody is overtaken for ever.
bool LockQueue::came_late(const Waiter& waiter) const {
    return std::any_of(rivals_.begin(), rivals_.end(), [&](const Rival& rival) {
        return waiter.id > rival.heard || waiter.since_ms > rival.since_ms;
    });
}

/// Forgets who waited and has gone: all that are not behind this tab's place, if nobody of another
/// tab waits before it, but who has only just been heard of: the word of a request may overtake it.
/// Who is behind came after, whatever the clocks say. True if that may let somebody in.
Task<bool> LockQueue::forget_rivals() {
    const auto asked_ms = context_.world.clock().now_ms();
    const auto place = place_in_turn();
    const auto waiting = co_await turnstile_->who_waits(place.has_value());
    if (waiting == Waiting::before) co_return false;
    const auto now_ms = context_.world.clock().now_ms();
    const auto is_behind = [&](const Rival& rival) {
        return waiting == Waiting::behind && rival.wants >= place->number;
    };
    bool moved = rivals_.empty();
    for (auto& rival : rivals_) {
        if (!is_behind(rival) || rival.since_ms >= place->since_ms) continue;
        rival.since_ms = place->since_ms;
        moved = true;
    }
    const auto gone = std::erase_if(rivals_, [&](const Rival& rival) {
        const bool set_back = rival.heard_ms > now_ms;
        return !is_behind(rival) && (set_back || asked_ms - rival.heard_ms >= slice_ms);
    });
    const bool may_let_in = moved || gone > 0;
    co_return may_let_in;
}

}  // namespace tabacus
