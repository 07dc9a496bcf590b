#include "native_holds.hpp"

#include <algorithm>
#include <utility>

#include "protocol/lock/lock_timers.hpp"

namespace tabacus {

bool NativeHolds::stolen_in_use() const {
    return std::any_of(stolen_.begin(), stolen_.end(),
                       [](const HoldPtr& hold) { return !hold->active.empty(); });
}

std::vector<NativeHolds::HoldPtr> NativeHolds::all() const {
    auto holds = stolen_;
    if (current_) holds.push_back(current_);
    return holds;
}

std::vector<std::shared_ptr<Grant>> NativeHolds::holders() const {
    std::vector<std::shared_ptr<Grant>> grants;
    if (current_) grants = current_->active;
    for (const auto& hold : stolen_) {
        grants.insert(grants.end(), hold->active.begin(), hold->active.end());
    }
    return grants;
}

std::optional<LockMode> NativeHolds::idle_mode() const {
    if (!current_ || in_use()) return std::nullopt;
    return current_->mode;
}

// --- The beginning of holds and grants ----------------------------------------------------------

void NativeHolds::adopt(const HoldPtr& hold) {
    current_ = hold;
    begin_hold(hold);
}

void NativeHolds::adopt_stolen(const HoldPtr& hold) {
    stolen_.push_back(hold);
    begin_hold(hold);
}

void NativeHolds::begin_hold(const HoldPtr& hold) {
    lock_.listen_near();
    hold->taken_ms = lock_.context.stamps.read_ms(lock_.clock());
    hold->announced_ms = lock_.clock().monotonic_ms();
    hold->on_lost = [weak = self_, of = std::weak_ptr(hold)](std::string_view reason) {
        const auto self = weak.lock();
        const auto lost = of.lock();
        if (self && lost) self->lose(lost, reason);
    };
    listeners_.changed();
}

std::shared_ptr<Grant> NativeHolds::grant(const LockOptions& options, const HoldPtr& hold) {
    auto granted = std::make_shared<Grant>();
    granted->holds = self_;
    granted->hold = hold;
    granted->within = options.within;
    granted->id = lock_.context.stamps.next_id();
    granted->mode = hold->mode;
    granted->label = options.label;
    granted->since_ms = lock_.context.stamps.next_ms();
    const bool fenced = hold->mode == LockMode::exclusive && !options.unfenced;
    if (fenced) granted->token = hold->tokens.next++;
    hold->active.push_back(granted);
    ++hold->uses;
    if (options.max_hold_ms) {
        granted->until_ms = lock_.clock().monotonic_ms() + *options.max_hold_ms;
        lock_.spawn(limit(granted, *options.max_hold_ms));
    }
    return granted;
}

std::shared_ptr<Grant> NativeHolds::outer_of(const LockOptions& options) {
    auto outer = options.within;
    while (outer && (outer->holds.lock().get() != this || !outer->held)) outer = outer->within;
    return outer;
}

std::shared_ptr<Grant> NativeHolds::reenter(const std::shared_ptr<Grant>& outer,
                                            const LockOptions& options) {
    auto inner = std::make_shared<Grant>(*outer);
    inner->within = options.within;
    inner->id = lock_.context.stamps.next_id();
    inner->commits = 0;
    inner->on_lost.clear();
    if (!options.label.empty()) inner->label = options.label;
    inner->hold->active.push_back(inner);
    return inner;
}

// --- Release ------------------------------------------------------------------------------------

void NativeHolds::release(Grant& grant) {
    if (!std::exchange(grant.held, false)) return;
    if (grant.commits == 0) commit_ended(grant);
}

void NativeHolds::commit_ended(Grant& grant) {
    if (grant.held || grant.commits > 0 || !grant.hold) return;
    const auto hold = std::exchange(grant.hold, nullptr);
    std::erase_if(hold->active, [&](const auto& other) { return other.get() == &grant; });
    if (hold == current_) {
        lock_.wake.set();
    } else if (hold->active.empty() && !hold->lost) {
        release_hold(hold);
    }
}

void NativeHolds::end(const HoldPtr& hold) {
    if (current_ == hold) current_.reset();
    if (!hold->lost) release_hold(hold);
}

void NativeHolds::release_hold(const HoldPtr& hold) {
    hold->lost = true;
    lock_.native->release(hold);
    std::erase(stolen_, hold);
    lock_.spawn(post_released());
    listeners_.changed();
}

/// Announces the release after the release itself, which happens in a microtask. Waiting tabs do
/// not need the message: they learn of the release by their grant. A message at the same time would
/// delay that grant, by a tenth in Chromium on two cores.
Task<void> NativeHolds::post_released() {
    const bool hands_over =
        lock_.has_web_locks() && !contenders_.empty() && !contenders_.any_tries();
    co_await releases_under_way(lock_.clock());
    if (hands_over) {
        lock_.context.messages.post_near_deferred(LockMessage::Kind::handed, lock_.key);
    } else {
        lock_.post_near(LockMessage::Kind::released);
    }
}

// --- Loss ---------------------------------------------------------------------------------------

void NativeHolds::lose(const HoldPtr& hold, std::string_view reason) {
    if (std::exchange(hold->lost, true)) return;
    const auto lost = std::exchange(hold->active, {});
    for (const auto& grant : lost) {
        grant->hold.reset();
        if (!std::exchange(grant->held, false)) continue;
        grant->loss = reason;
        for (const auto& callback : std::exchange(grant->on_lost, {})) callback(reason);
    }
    lock_.native->release(hold);
    std::erase(stolen_, hold);
    if (reason == "max-hold" || reason == "fenced") lock_.spawn(post_released());
    lock_.wake.set();
    listeners_.changed();
}

void NativeHolds::lose_all(std::string_view reason) {
    const auto stolen = stolen_;
    for (const auto& hold : stolen) lose(hold, reason);
    if (current_) lose(HoldPtr(current_), reason);
}

// --- maxHold ------------------------------------------------------------------------------------

/// Ends the grant after max_hold_ms, by this tab's own timer. Only a tab that is frozen or hung has
/// to be evicted by another one.
Task<void> NativeHolds::limit(std::shared_ptr<Grant> granted, double max_hold_ms) {
    const std::shared_ptr<const bool> held(granted, &granted->held);
    if (co_await outlasts(lock_.context.world, max_hold_ms, held, false)) end_grant(granted);
}

void NativeHolds::check_max_hold(const std::shared_ptr<Grant>& granted) {
    const bool over = lock_.clock().monotonic_ms() >= granted->until_ms;
    if (granted->held && over) end_grant(granted);
}

void NativeHolds::end_grant(const std::shared_ptr<Grant>& granted) {
    const auto self = self_.lock();  // a callback may destroy the table
    lock_.context.on_notice({Notice::Kind::warning, "max-hold",
                             "A lock was held for longer than maxHold, and its holder lost it.",
                             lock_.name, granted->label, 0});
    if (!granted->hold) return;
    if (granted->mode == LockMode::exclusive) {
        // What it still writes is refused at once: the next grant begins a new epoch.
        lose(std::shared_ptr(granted->hold), "max-hold");
    } else {
        granted->loss = "max-hold";
        const auto callbacks = std::exchange(granted->on_lost, {});
        release(*granted);
        for (const auto& callback : callbacks) callback("max-hold");
    }
}

}  // namespace tabacus
