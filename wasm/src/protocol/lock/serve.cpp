// What the browser grants, and which requests of the tab get it.
#include <algorithm>

#include "lock_queue.hpp"

namespace tabacus {
namespace {

/// A tab that grants again and again reserves tokens in growing blocks, one transaction each. At
/// the largest a block takes longer to use up than its microseconds (LockEpochs).
constexpr std::int64_t block_growth = 16;
constexpr std::int64_t block_max = 4096;
/// As many microtasks as are between the end of one run() and the next, and as many again, in
/// steps: after each it is seen whether the time for that is over.
constexpr int lingering_steps = 3;
constexpr int lingering_step = 8;
/// More microtasks than are between the end of a lock's promise and its release.
constexpr int releasing_microtasks = 4;
/// Of who waits. Who lingers and has used them up lets the lock go. A turn takes longer than as
/// many microseconds (LockEpochs).
constexpr std::int64_t tokens_in_line = 256;

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
            } else if (came_late(*waiter) || !co_await reserve_tokens(possession)) {
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
        const auto steps_left = pause_ = std::make_shared<int>(lingering_steps);
        context_.scope.spawn(end_pause(steps_left));
        while (*steps_left > 0 && !front() && !over() && may_linger(*possession)) co_await rung();
        pause_.reset();
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

/// Rings from time to time while linger() waits, and when a caller who asks again would have.
Task<void> LockQueue::end_pause(std::shared_ptr<int> steps_left) {
    const auto self = weak_from_this();
    while (*steps_left > 0) {
        co_await context_.world.clock().after_microtasks(lingering_step);
        if (self.expired() || pause_ != steps_left) co_return;
        --*steps_left;
        ring();
    }
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

/// When what this turn began is under way.
Task<void> LockQueue::soon() {
    co_await context_.world.clock().after_microtasks(releasing_microtasks);
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

}  // namespace tabacus
