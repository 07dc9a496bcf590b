#include "fair_order.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "protocol/common/record.hpp"
#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// The third field of a request that is announced for `ifAvailable` requests only.
constexpr const char* only_tries = "t";
/// The third field if the tab is the next in line.
constexpr const char* next_in_line = "n";
/// Requests of a tab that are made within this time share a position, since another tab is unlikely
/// to come between them.
constexpr double same_position_ms = 2;
/// How many positions a tab takes ahead only because another tab may have come between.
constexpr std::size_t precautions_max = 16;

}  // namespace

// --- Whether a request needs a position ---------------------------------------------------------

bool FairOrder::behind_a_contender(const AcquireRequest& request) const {
    const auto last = ahead_.empty() ? current_ : ahead_.back().number;
    if (request.options.if_available) return false;
    return contenders_.any_after(last) || may_be_behind_others(request);
}

bool FairOrder::may_be_behind_others(const AcquireRequest& request, double since_ms) const {
    const bool waiting = holds_.acquiring() || !contenders_.empty() || !ahead_.empty();
    return waiting && lock_.has_web_locks() && ahead_.size() < precautions_max &&
           request.since_ms >= since_ms + same_position_ms;
}

bool FairOrder::stands_alone(const AcquireRequest& request) const {
    if (request.options.if_available) return false;
    const auto mode = request.options.mode;
    if (const auto before = requests_.last_in_place()) return before->options.mode != mode;
    if (holds_.acquiring()) return true;
    return holds_.in_use() && holds_.current()->mode != mode;
}

// --- Positions ----------------------------------------------------------------------------------

Task<void> FairOrder::take(AcquireRequestPtr request) {
    co_await releases_under_way(lock_.clock());
    if (request->ended || lock_.context.state.suspended()) co_return;
    // The native request that is under way was made for this request.
    if (holds_.acquiring() && requests_.front() == request) co_return;
    if (!request->alone && !behind_a_contender(*request)) co_return;
    if (position_of(*request)) co_return;  // it has inherited one
    const auto since_ms = request->since_ms;
    auto entry = lock_.native->request_entry(request->options.mode, [this, since_ms] {
        // Readers of other tabs may hold the lock beside those of this tab. In other cases the tab
        // announces itself when it goes on with this position.
        if (holds_.current() && holds_.current()->mode == LockMode::shared) {
            lock_.post_near(LockMessage::Kind::request,
                            {format_since(since_ms), format_decimal(no_answer), next_in_line});
        }
        lock_.wake.set();
    });
    if (!entry) co_return;
    last_ = lock_.context.stamps.next_id();
    ahead_.push_back({last_, request->options.mode, request->id, since_ms, std::move(entry)});
    last_since_ms_ = since_ms;
    announce(*request, std::nullopt);
}

void FairOrder::take_positions_behind(const AcquireRequest& first) {
    bool behind_a_try = first.options.if_available;
    for (const auto& request : requests_.all()) {
        if (!request->keeps_place()) continue;
        if (std::exchange(behind_a_try, false)) request->alone = true;
        const bool in_line = !request->alone || position_of(*request);
        if (request.get() != &first && !in_line) take_position(request);
    }
}

const FairOrder::Position* FairOrder::next_position() const {
    const auto found = std::find_if(ahead_.rbegin(), ahead_.rend(),
                                    [](const Position& one) { return one.entry->is_next(); });
    return found == ahead_.rend() ? nullptr : &*found;
}

std::vector<FairOrder::Position>::iterator FairOrder::find(const AcquireRequest& request) {
    return std::find_if(ahead_.begin(), ahead_.end(),
                        [&](const Position& one) { return one.owner == request.id; });
}

const FairOrder::Position* FairOrder::position_of(const AcquireRequest& request) const {
    for (const auto& one : ahead_) {
        if (one.owner == request.id) return &one;
    }
    return nullptr;
}

void FairOrder::release_position(const AcquireRequest& request) {
    const auto position = find(request);
    const auto heir = requests_.next_in_place(request);
    const bool may_inherit = heir && !position_of(*heir);
    if (position == ahead_.end()) {
        if (request.alone && !request.grant && may_inherit && !std::exchange(heir->alone, true)) {
            take_position(heir);
        }
        return;
    }
    const auto after = std::next(position);
    const bool inherits = may_inherit && heir->options.mode == position->mode &&
                          !contenders_.came_between(position->number, *heir) &&
                          !may_be_behind_others(*heir, position->since_ms) &&
                          (after == ahead_.end() || heir->id < after->owner);
    if (inherits) {
        position->owner = heir->id;
        heir->alone |= request.alone;
    } else {
        position->entry->give_up();
        ahead_.erase(position);
    }
}

void FairOrder::release_positions() {
    for (const auto& position : std::exchange(ahead_, {})) position.entry->give_up();
}

FairOrder::Position FairOrder::pop_position(const AcquireRequest& first) {
    while (!ahead_.empty() && !first.options.if_available) {
        auto position = std::move(ahead_.front());
        ahead_.erase(ahead_.begin());
        if (position.mode == first.options.mode) {
            current_ = position.number;
            return position;
        }
        position.entry->give_up();
    }
    current_ = last_ = lock_.context.stamps.next_id();
    last_since_ms_ = first.since_ms;
    return {current_, first.options.mode, first.id, first.since_ms, nullptr};
}

// --- Other tabs ---------------------------------------------------------------------------------

void FairOrder::announce(const AcquireRequest& request, std::optional<std::uint64_t> number) {
    std::vector<std::string> detail{format_since(request.since_ms)};
    if (number) detail.push_back(format_decimal(static_cast<std::int64_t>(*number)));
    if (number) detail.emplace_back(request.options.if_available ? only_tries : next_in_line);
    lock_.post_near(LockMessage::Kind::request, std::move(detail));
}

bool FairOrder::announces_next(const LockMessage& message) {
    return message.detail.size() > 2 && message.detail[2] == next_in_line;
}

/// An `ifAvailable` request gives up as soon as it learns that the lock is in use, so it is not
/// recorded as a contender then.
void FairOrder::on_request(const LockMessage& message) {
    const auto& detail = message.detail;
    const bool in_use = holds_.in_use();
    if ((in_use || holds_.stolen_in_use()) && detail.size() > 1 &&
        detail[1] != format_decimal(no_answer)) {
        lock_.post_near(LockMessage::Kind::busy, {message.tab, detail[1]});
    }
    const bool tries = detail.size() > 2 && detail[2] == only_tries;
    if (in_use ? !tries : holds_.current() || holds_.acquiring()) note_contender(message, tries);
}

/// Records a contender. If it is the next in line, it came before each position of this tab that is
/// not the next. If both are next, as readers may be together, the times of their requests decide.
void FairOrder::note_contender(const LockMessage& message, bool tries) {
    const auto now_ms = lock_.clock().now_ms();
    const auto parsed_ms = message.detail.empty() ? std::nullopt : parse_since(message.detail[0]);
    const auto since_ms = parsed_ms.value_or(now_ms);
    const bool is_next = announces_next(message);
    const auto behind = std::find_if(ahead_.begin(), ahead_.end(), [&](const Position& one) {
        return is_next && (!one.entry->is_next() || one.since_ms > since_ms);
    });
    const bool last = behind == ahead_.end();
    contenders_.note({.tab = message.tab,
                      .since_ms = since_ms,
                      .received_ms = now_ms,
                      .after_request = last ? requests_.newest() : behind->owner - 1,
                      .after_position = last ? last_ : behind->number - 1,
                      .tries = tries});
}

/// The query assumes that this tab has no position that is next in line: with such a position a
/// waiting reader of this tab would be granted the lock at once (HandOver::admissible()).
Task<bool> FairOrder::forget_contenders() {
    const auto asked_ms = lock_.clock().now_ms();
    if (co_await lock_.native->query_other_waiters(false)) co_return false;
    co_return contenders_.forget_gone(asked_ms, lock_.clock().now_ms());
}

}  // namespace tabacus
