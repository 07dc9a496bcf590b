// Positions in line: between which requests of this tab other tabs came, so that first come is
// first served over tabs.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// How many contenders of one other tab, and of all tabs, are remembered: requests that came
/// between the same two requests of this tab count as one contender. Beyond that the newest are
/// dropped.
constexpr std::ptrdiff_t contenders_of_tab_max = 1'000;
constexpr std::size_t contenders_max = 10'000;
constexpr const char* only_tries = "t";

}  // namespace

/// @param number  The position, which an answer repeats; nothing if no answer is needed.
void LockQueue::announce_request(const AcquireRequest& request,
                                 std::optional<std::uint64_t> number) {
    std::vector<std::string> detail{format_since(request.since_ms)};
    if (number) detail.push_back(std::to_string(*number));
    if (number && request.options.if_available) detail.emplace_back(only_tries);
    context_.post(LockMessage::Kind::request, key_, std::move(detail));
}

/// Whether another tab's request came after all of this tab's positions, and before this request.
/// Positions that were given up do not count.
bool LockQueue::behind_a_contender(const AcquireRequest& request) const {
    const auto last = positions_.empty() ? acquiring_position_ : positions_.back().number;
    return !request.options.if_available &&
           std::any_of(contenders_.begin(), contenders_.end(), [last](const Contender& contender) {
               return contender.after_position >= last;
           });
}

/// Whether another tab's request came after a position of this tab, and before this request.
bool LockQueue::came_between(std::uint64_t number, const AcquireRequest& request) const {
    return std::any_of(contenders_.begin(), contenders_.end(), [&](const Contender& contender) {
        return contender.after_position >= number && contender.after_request < request.id;
    });
}

/// Whether a new request needs a position of its own. It does if it asks for another mode than the
/// one before it in this tab: a tab holds or requests the native lock in one mode, and other tabs
/// would not see the other. It also does if only `ifAvailable` requests are before it: what is
/// requested of the browser for those keeps no position.
bool LockQueue::stands_alone(const AcquireRequest& request) const {
    if (request.options.if_available) return false;
    const auto before = std::find_if(
        waiting_.rbegin(), waiting_.rend(),
        [](const RequestPtr& other) { return !other->ended && !other->options.if_available; });
    const auto mode = request.options.mode;
    if (before != waiting_.rend()) return (*before)->options.mode != mode;
    if (acquiring_) return true;
    return hold_ && !hold_->active.empty() && hold_->mode != mode;
}

/// Takes a position for a request that another tab's came before, or that needs its own, unless the
/// tab serves it in its barging window or acquires the lock for it anyway. The request is
/// announced: tabs that ask from then on came later.
Task<void> LockQueue::take_position(RequestPtr request) {
    const auto self = weak_from_this();
    co_await await_pending_releases();
    if (self.expired() || request->ended || context_.suspended) co_return;
    if (acquiring_ && front() == request) co_return;  // what is asked of the browser is for it
    if (!request->alone && !behind_a_contender(*request)) co_return;
    if (position_of(*request) != positions_.end()) co_return;  // it has inherited one
    auto entry = native_lock_->request_entry(request->options.mode, [self] {
        if (const auto alive = self.lock()) alive->wake();
    });
    if (!entry) co_return;
    positions_.push_back({++last_position_, request->options.mode, request->id, request->since_ms,
                          std::move(entry)});
    announce_request(*request);
}

/// Takes positions for the requests of this tab that need their own and have none: a frozen tab
/// gave its positions up, and so did a tab whose turn came in another mode. The first request that
/// waits needs one, too, if the one before it is an `ifAvailable` request.
void LockQueue::take_positions_behind(const AcquireRequest& first) {
    bool behind_a_try = first.options.if_available;
    for (const auto& request : waiting_) {
        if (request->ended || request->options.if_available) continue;
        if (std::exchange(behind_a_try, false)) request->alone = true;
        const bool in_line = !request->alone || position_of(*request) != positions_.end();
        if (request.get() != &first && !in_line) {
            context_.scope.spawn(take_position(request));
        }
    }
}

/// Forgets the contenders that were before this position: each has had its turn, or has gone.
void LockQueue::was_served_before(std::uint64_t number) {
    std::erase_if(contenders_,
                  [&](const Contender& contender) { return contender.after_position < number; });
}

/// The last position that is next in line, which holds the entry lock for this tab.
std::optional<LockQueue::Position> LockQueue::position_in_turn() const {
    const auto found = std::find_if(positions_.rbegin(), positions_.rend(),
                                    [](const Position& one) { return one.entry->is_next(); });
    return found == positions_.rend() ? std::nullopt : std::optional(*found);
}

std::vector<LockQueue::Position>::iterator LockQueue::position_of(const AcquireRequest& request) {
    return std::find_if(positions_.begin(), positions_.end(),
                        [&](const Position& one) { return one.owner == request.id; });
}

/// Passes the position of a request that ended to the tab's next request, if no other tab came
/// between them. If the request ended before it had a position, the next one takes it.
void LockQueue::release_position(const AcquireRequest& request) {
    const auto position = position_of(request);
    const auto heir = std::find_if(waiting_.begin(), waiting_.end(), [&](const RequestPtr& other) {
        return other->id > request.id && !other->ended && !other->options.if_available;
    });
    const bool has_heir = heir != waiting_.end() && position_of(**heir) == positions_.end();
    if (position == positions_.end()) {
        if (request.alone && !request.grant && has_heir && !std::exchange((*heir)->alone, true)) {
            context_.scope.spawn(take_position(*heir));
        }
        return;
    }
    const auto after = std::next(position);
    const bool inherits = has_heir && (*heir)->options.mode == position->mode &&
                          !came_between(position->number, **heir) &&
                          (after == positions_.end() || (*heir)->id < after->owner);
    if (inherits) {
        position->owner = (*heir)->id;
        (*heir)->alone |= request.alone;
    } else {
        position->entry->give_up();
        positions_.erase(position);
    }
}

void LockQueue::release_positions() {
    for (const auto& position : std::exchange(positions_, {})) position.entry->give_up();
}

/// The oldest position in line, whichever request it was taken for: a request does not queue behind
/// its own tab. An `ifAvailable` request needs none, and leaves the positions to those that wait.
LockQueue::Position LockQueue::pop_position(const AcquireRequest& first) {
    while (!positions_.empty() && !first.options.if_available) {
        auto position = std::move(positions_.front());
        positions_.erase(positions_.begin());
        if (position.mode == first.options.mode) return position;
        position.entry->give_up();
    }
    return {++last_position_, first.options.mode, first.id, first.since_ms, nullptr};
}

/// An `ifAvailable` request gives up as soon as it learns that the lock is in use, so it is not
/// recorded as a contender then.
void LockQueue::on_request(const LockMessage& message) {
    const auto& detail = message.detail;
    const bool in_use = hold_ && !hold_->active.empty();
    const bool stolen = std::any_of(stolen_.begin(), stolen_.end(),
                                    [](const auto& hold) { return !hold->active.empty(); });
    if ((in_use || stolen) && detail.size() > 1) {
        context_.post(LockMessage::Kind::busy, key_, {message.tab, detail[1]});
    }
    const bool tries = detail.size() > 2 && detail[2] == only_tries;
    if (in_use ? !tries : hold_ || acquiring_) note_contender(message, tries);
}

void LockQueue::note_contender(const LockMessage& message, bool tries) {
    const auto& detail = message.detail;
    const auto now_ms = context_.world.clock().now_ms();
    const auto since_ms = detail.empty() ? std::nullopt : parse_since(detail[0]);
    Contender contender{.tab = message.tab,
                        .since_ms = since_ms.value_or(now_ms),
                        .received_ms = now_ms,
                        .after_request = newest_,
                        .after_position = last_position_,
                        .tries = tries};
    if (contenders_.empty()) contended_ms_ = now_ms;
    // Another request of that tab at the same point does not change the order.
    std::erase_if(contenders_, [&](const Contender& other) {
        if (other.tab != contender.tab || other.after_position != contender.after_position ||
            other.after_request != contender.after_request)
            return false;
        contender.since_ms = std::min(contender.since_ms, other.since_ms);
        contender.tries |= other.tries;
        return true;
    });
    const auto of_tab =
        std::count_if(contenders_.begin(), contenders_.end(),
                      [&](const Contender& other) { return other.tab == contender.tab; });
    if (of_tab < contenders_of_tab_max && contenders_.size() < contenders_max) {
        contenders_.push_back(std::move(contender));
    }
}

/// Whether another tab's request came before. A request that was made after that one's announcement
/// was received came later, whatever the clocks say, so that nobody is overtaken for ever.
bool LockQueue::came_late(const AcquireRequest& request) const {
    return std::any_of(contenders_.begin(), contenders_.end(), [&](const Contender& contender) {
        return request.id > contender.after_request || request.since_ms > contender.since_ms;
    });
}

/// Forgets contenders that are gone: if no other tab waits before this tab's position, all that are
/// not behind it. A contender that announced itself only just now is kept: the announcement may
/// overtake the request. Contenders behind the position came after it, whatever the clocks say.
/// Returns true if that may let a request of this tab in.
Task<bool> LockQueue::forget_contenders() {
    const auto asked_ms = context_.world.clock().now_ms();
    const auto position = position_in_turn();
    const auto waiting = co_await native_lock_->query_other_waiters(position.has_value());
    if (waiting == OtherWaiters::ahead_of_us) co_return false;
    const auto now_ms = context_.world.clock().now_ms();
    const auto is_behind = [&](const Contender& contender) {
        return waiting == OtherWaiters::behind_us && contender.after_position >= position->number;
    };
    bool moved = contenders_.empty();
    for (auto& contender : contenders_) {
        if (!is_behind(contender) || contender.since_ms >= position->since_ms) continue;
        contender.since_ms = position->since_ms;
        moved = true;
    }
    const auto gone = std::erase_if(contenders_, [&](const Contender& contender) {
        const bool set_back = contender.received_ms > now_ms;
        return !is_behind(contender) && (set_back || asked_ms - contender.received_ms >= slice_ms);
    });
    const bool may_let_in = moved || gone > 0;
    co_return may_let_in;
}

}  // namespace tabacus
