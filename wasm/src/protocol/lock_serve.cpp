// What the browser grants, and which requests of the tab get it.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// A tab that grants again and again reserves tokens in growing blocks, one transaction each. At
/// the largest a block takes longer to use up than its microseconds (LockEpochs).
constexpr std::int64_t block_growth = 16;
constexpr std::int64_t block_max = 4096;
/// As many microtasks as are between the end of one run() and the next, and as many again.
constexpr int lingering_turns = 24;
/// More than are between the end of a lock's promise and its release.
constexpr int releasing_turns = 4;
/// Of who waits, so that it need not ask for more while others wait: as many as a lingering tab
/// uses up. A turn takes longer than as many microseconds (LockEpochs).
constexpr std::int64_t tokens_in_line = 256;
/// Words of one other tab, and of all, that are remembered: those that came between the same two
/// requests of this tab count as one. Of more the newest are forgotten.
constexpr std::ptrdiff_t heard_of_tab_max = 1'000;
constexpr std::size_t heard_max = 10'000;
constexpr const char* only_tries = "t";

std::int64_t tokens_of(const LockOptions& asked) { return asked.unfenced ? 0 : tokens_in_line; }

}  // namespace

Task<void> patience(World& world, double delay_ms) {
    constexpr int timers = 5;
    for (int i = 0; i < timers; ++i) co_await world.clock().sleep(delay_ms / timers);
}

Task<bool> outlasts(World& world, double delay_ms, std::shared_ptr<const bool> flag, bool over) {
    auto& clock = world.clock();
    const auto end_ms = clock.monotonic_ms() + delay_ms;
    double left_ms = delay_ms;
    for (double step_ms = slice_ms;; step_ms *= 2) {
        co_await clock.sleep(std::min(left_ms, step_ms));
        if (*flag == over) co_return false;
        if (left_ms <= step_ms) co_return true;
        left_ms = end_ms - clock.monotonic_ms();
    }
}

void LockQueue::wake_driver() {
    if (driving_) {
        ring();
    } else if (!context_.asleep && !context_.closed) {
        context_.scope.spawn(drive());
    }
}

Task<void> LockQueue::drive() {
    driving_ = true;
    while (front() && !context_.asleep && !context_.closed) {
        co_await obtain();
        if (possession_) co_await serve(possession_);
    }
    driving_ = false;
}

Task<void> LockQueue::obtain() {
    const auto first = front();
    const auto& asked = first->options;
    taking_ = true;
    taking_mode_ = asked.mode;
    const auto place = next_place(*first);
    wanted_ = place.number;
    if (!place.ticket) want(*first, wanted_);  // else all who stand behind it know
    // Who behind it has lost its place for it stands anew, and whoever is behind that one after it.
    if (place.owner != first->id && rivals_.empty()) leave_line();
    line_up_behind(*first);
    const Turnstile::Wish wish{
        .mode = asked.mode,
        .if_available = asked.if_available,
        .claim = {.label = asked.label,
                  .max_hold_ms = static_cast<std::int64_t>(asked.max_hold_ms.value_or(0)),
                  .tokens = context_.world.locks().available() ? tokens_of(asked) : 1},
        .ticket = place.ticket};
    if (!watching_ && !asked.if_available) context_.scope.spawn(watch());
    auto outcome =
        co_await attempt(asked.if_available ? take_if_available(wish) : turnstile_->take(wish));
    const auto taken = outcome ? std::move(outcome.value()) : nullptr;
    taking_ = false;
    busy_heard_ = false;
    if (taken && (taken->lost || context_.asleep || context_.closed)) {
        turnstile_->let_go(taken);
        co_return;
    }
    if (taken) {
        was_served_before(wanted_);
        possession_ = taken;
        possess(taken);
    } else if (!outcome) {
        settle(first, outcome.error());
    } else if (asked.if_available) {
        settle(first, std::nullopt);
    }
}

/// @param number  To be answered with, if it is to be answered.
void LockQueue::want(const Waiter& waiter, std::optional<std::uint64_t> number) {
    std::vector<std::string> detail{format_since(waiter.since_ms)};
    if (number) detail.push_back(std::to_string(*number));
    if (number && waiter.options.if_available) detail.emplace_back(only_tries);
    context_.post(LockMessage::Kind::want, key_, std::move(detail));
}

// --- Places in line -----------------------------------------------------------------------------

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

/// A lock that another tab merely keeps is available: that tab lets it go when it hears of us. Its
/// word that it did may overtake the deed, which travels by another road: so this asks again at
/// every word of a release, and once more when no answer can come any more.
Task<std::shared_ptr<Possession>> LockQueue::take_if_available(Turnstile::Wish wish) {
    const auto over = std::make_shared<bool>(false);
    bool limited = false;
    while (true) {
        const Completer<Unit> answered;
        answer_bell_ = answered;  // rings for what comes while this asks, too
        const bool last = *over;
        auto taken = co_await turnstile_->take(wish);
        if (taken || last || busy_heard_ || !context_.channel) co_return taken;
        if (!std::exchange(limited, true)) context_.scope.spawn(end_answers(over));
        refused_ = true;
        co_await answered.async();
        refused_ = false;
        if (busy_heard_) co_return nullptr;
    }
}

Task<void> LockQueue::end_answers(std::shared_ptr<bool> over) {
    const auto self = weak_from_this();
    co_await patience(context_.world, 2 * keep_ms);
    *over = true;
    if (!self.expired()) answer_bell_.complete({});
}

void LockQueue::possess(const std::shared_ptr<Possession>& possession) {
    possession->taken_ms = context_.world.clock().now_ms();
    possession->on_lost = [weak = weak_from_this(),
                           of = std::weak_ptr(possession)](std::string_view reason) {
        const auto queue = weak.lock();
        const auto robbed = of.lock();
        if (queue && robbed) queue->lose(robbed, reason);
    };
    changed();
}

/// After the holder has begun: who only watches can wait, and need not hear what is over. Who holds
/// for longer says in the lock's row who it is: it may hang before its first commit.
Task<void> LockQueue::make_known(std::shared_ptr<Possession> possession) {
    const auto self = weak_from_this();
    const auto over = [&] { return self.expired() || possession->lost || context_.asleep; };
    auto& clock = context_.world.clock();
    co_await clock.end_of_turn();
    possession->gate.reset();
    co_await soon();
    if (over()) co_return;
    context_.post(LockMessage::Kind::taken, key_);
    const bool fenced = possession->mode == LockMode::exclusive && context_.epochs.fenced() &&
                        !possession->tokens.grant.empty();
    if (!fenced || possession->tokens.recorded) co_return;
    co_await clock.sleep(keep_ms);
    if (over() || possession->tokens.recorded) co_return;
    const auto recorded = co_await attempt(context_.epochs.record(key_, possession->tokens));
    if (recorded || recorded.error().code() != ErrorCode::fenced || self.expired()) co_return;
    lose(possession, "fenced");
}

Task<void> LockQueue::serve(std::shared_ptr<Possession> possession) {
    if (!admissible(*possession)) possession->gate.reset();  // who asked has gone
    while (!possession->lost) {
        if (const auto waiter = admissible(*possession)) {
            const bool spent = possession->mode == LockMode::exclusive &&
                               !waiter->options.unfenced && possession->tokens.empty();
            if (!spent) {
                waiter->grant = grant(waiter->options, possession);
                settle(waiter, std::nullopt);
                if (possession->uses == 1) {
                    context_.scope.spawn(make_known(possession));
                } else if (!rivals_.empty() && waiter->options.max_hold_ms) {
                    // Else nobody sees that something moves, and this tab would pass for a hung
                    // one.
                    context_.post(LockMessage::Kind::taken, key_);
                }
            } else if (!co_await reserve_tokens(possession)) {
                break;
            }
            continue;
        }
        if (possession->active.empty()) {
            if (must_let_go(*possession)) {
                if (co_await linger(possession)) continue;
                break;
            }
            if (!std::exchange(possession->timing, true)) context_.scope.spawn(keep(possession));
        } else if (kept_from_sharing(*possession) && co_await forget_rivals()) {
            if (rivals_.empty()) possession->taken_ms = context_.world.clock().now_ms();
            continue;
        } else {
            refuse_unavailable();
            if (kept_from_sharing(*possession) && !std::exchange(looking_, true)) {
                context_.scope.spawn(look_again());
            }
        }
        co_await rung();
    }
    if (possession_ == possession) possession_.reset();
    if (!possession->lost) let_go(possession);
}

/// A shared request beside shared holders of this tab, which may have to wait for a request of
/// another tab that came before it.
bool LockQueue::kept_from_sharing(const Possession& possession) {
    const auto first = front();
    return first && !possession.lost && possession.mode == LockMode::shared &&
           first->options.mode == LockMode::shared;
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

/// Who gives up or dies in the queue says nothing.
Task<void> LockQueue::look_again() {
    const auto self = weak_from_this();
    co_await context_.world.clock().sleep(slice_ms);
    if (self.expired()) co_return;
    looking_ = false;
    ring();
}

/// What is not granted beside the holders of this tab is not available.
void LockQueue::refuse_unavailable() {
    if (hasty_ == 0) return;
    const auto requests = waiting_;
    for (const auto& waiter : requests) {
        if (waiter->options.if_available) settle(waiter, std::nullopt);
    }
}

/// Nor is what stands behind a request that waits for another tab: one that need not wait would
/// have been granted by then.
Task<void> LockQueue::give_up(WaiterPtr waiter) {
    const auto self = weak_from_this();
    co_await patience(context_.world, 2 * keep_ms);
    if (!self.expired() && front() != waiter) settle(waiter, std::nullopt);
}

Task<bool> LockQueue::reserve_tokens(std::shared_ptr<Possession> possession) {
    // Out of turn: who waits may have tokens already.
    if (possession->tokens.grant.empty()) co_return false;
    possession->block = std::min(possession->block * block_growth, block_max);
    const auto extended =
        co_await attempt(context_.epochs.extend(key_, possession->tokens, possession->block));
    if (extended) co_return true;
    // Another failure shows when the lock is taken anew.
    if (extended.error().code() == ErrorCode::fenced) lose(possession, "fenced");
    co_return false;
}

/// The next request that this possession may be granted to, now.
LockQueue::WaiterPtr LockQueue::admissible(const Possession& possession) {
    auto first = front();
    if (!first || first->options.mode != possession.mode) return nullptr;
    if (possession.mode == LockMode::exclusive && !possession.active.empty()) return nullptr;
    if (possession.uses == 0) return first;
    // A place beside readers may be next while this tab's turn before is not over: nobody came
    // between.
    const auto place = place_of(*first);
    if (place != places_.end() && place->ticket->next()) {
        was_served_before(place->number);
        if (possession.mode == LockMode::shared) return first;
    }
    const bool late = came_late(*first);
    // What another tab waits behind comes before it, however long that takes.
    if (!rivals_.empty() && !late) return first;
    // Only who asks again while its tab has the lock is let linger.
    const bool again = first->since_ms >= possession.taken_ms;
    if (must_yield(possession) || (late && !(again && may_linger(possession)))) return nullptr;
    return first;
}

bool LockQueue::must_yield(const Possession& possession) const {
    const auto age_ms = context_.world.clock().now_ms() - possession.taken_ms;
    return age_ms > slice_ms || age_ms < 0;  // a clock that was set back says nothing
}

/// Whether it may go on for a moment although another tab waits.
bool LockQueue::may_linger(const Possession& possession) const {
    if (possession.mode != LockMode::exclusive) return false;
    const auto since_ms = std::max(contended_ms_, possession.taken_ms);
    const auto age_ms = context_.world.clock().now_ms() - since_ms;
    return age_ms >= 0 && age_ms < linger_ms && context_.world.locks().available();
}

/// Whether a possession without a holder, which must let go, need not: its tab asks again before
/// its turn ends, and may; or it has come of age and nobody waits.
Task<bool> LockQueue::linger(std::shared_ptr<Possession> possession) {
    const auto over = [&] {
        return possession->lost || context_.asleep || context_.closed || possession->expired;
    };
    if (!rivals_.empty() && !may_linger(*possession)) co_return false;
    if (over() || !context_.world.locks().available()) co_return false;
    // Of a hidden page, too: it does not wait for anything, and cannot be frozen within a turn.
    if (!rivals_.empty()) {
        for (int i = 0; i < lingering_turns && !front() && may_linger(*possession); ++i) {
            co_await context_.world.clock().end_of_turn();
        }
        co_return !over() && admissible(*possession) != nullptr;
    }
    const auto hidden = [&] { return context_.world.lifecycle().hidden(); };
    const auto first = front();
    if (!first || first->options.mode != possession->mode || !must_yield(*possession) || hidden()) {
        co_return false;
    }
    const auto waiting = co_await turnstile_->who_waits(place_in_turn().has_value());
    if (waiting != Waiting::nobody || !rivals_.empty() || over() || hidden()) co_return false;
    possession->taken_ms = context_.world.clock().now_ms();
    co_return true;
}

/// Of a possession without a holder.
bool LockQueue::must_let_go(const Possession& possession) {
    return front() || !rivals_.empty() || possession.expired || context_.asleep ||
           context_.closed || context_.world.lifecycle().hidden();
}

std::shared_ptr<Grant> LockQueue::grant(const LockOptions& options,
                                        const std::shared_ptr<Possession>& possession) {
    auto granted = std::make_shared<Grant>();
    granted->queue = weak_from_this();
    granted->possession = possession;
    granted->within = options.within;
    granted->id = ++context_.last_id;
    granted->mode = possession->mode;
    granted->label = options.label;
    granted->since_ms = context_.stamp_ms();
    const bool fenced = possession->mode == LockMode::exclusive && !options.unfenced;
    if (fenced) granted->token = possession->tokens.next++;
    possession->active.push_back(granted);
    ++possession->uses;
    if (options.max_hold_ms) {
        granted->until_ms = context_.world.clock().monotonic_ms() + *options.max_hold_ms;
        context_.scope.spawn(limit(granted, *options.max_hold_ms));
    }
    return granted;
}

/// The holder's own clock ends its hold; only one that is frozen or hung must be evicted.
Task<void> LockQueue::limit(std::shared_ptr<Grant> granted, double max_hold_ms) {
    const auto self = weak_from_this();
    const std::shared_ptr<const bool> held(granted, &granted->held);
    if (!co_await outlasts(context_.world, max_hold_ms, held, false)) co_return;
    if (const auto alive = self.lock()) alive->end_hold(granted);
}

void LockQueue::look(const std::shared_ptr<Grant>& granted) {
    const bool over = context_.world.clock().monotonic_ms() >= granted->until_ms;
    if (granted->held && over) end_hold(granted);
}

void LockQueue::end_hold(const std::shared_ptr<Grant>& granted) {
    const auto self = shared_from_this();
    context_.on_notice({Notice::Kind::warning, "max-hold",
                        "A lock was held for longer than maxHold, and its holder lost it.", name_,
                        granted->label, 0});
    if (!granted->possession) return;
    if (granted->mode == LockMode::exclusive) {
        // What it still writes is refused at once: the next grant begins a new epoch.
        lose(std::shared_ptr(granted->possession), "max-hold");
    } else {
        granted->loss = "max-hold";
        const auto callbacks = std::exchange(granted->on_lost, {});
        release(*granted);
        for (const auto& callback : callbacks) callback("max-hold");
    }
}

void LockQueue::let_go(const std::shared_ptr<Possession>& possession) {
    possession->lost = true;
    turnstile_->let_go(possession);
    std::erase(stolen_, possession);
    announce();
}

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

/// When what this turn began is under way.
Task<void> LockQueue::soon() {
    auto& clock = context_.world.clock();
    for (int i = 0; i < releasing_turns; ++i) co_await clock.end_of_turn();
}

/// Rings when nothing was granted for keep_ms.
Task<void> LockQueue::keep(std::shared_ptr<Possession> possession) {
    const auto self = weak_from_this();
    while (true) {
        const auto uses = possession->uses;
        co_await context_.world.clock().sleep(keep_ms);
        if (self.expired() || possession->lost) co_return;
        if (!possession->active.empty()) break;
        if (possession->uses != uses) continue;
        possession->expired = true;
        ring();
        break;
    }
    possession->timing = false;
}

// --- The driver's bell --------------------------------------------------------------------------

void LockQueue::ring() {
    rung_ = true;
    const auto bell = std::exchange(bell_, {});
    bell.complete({});
}

Task<void> LockQueue::rung() {
    if (!rung_) {
        const auto bell = bell_;
        co_await bell.async();
    }
    rung_ = false;
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
