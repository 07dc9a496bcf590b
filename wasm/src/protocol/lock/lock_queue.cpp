// The way of a request: from acquire() over the tab's native lock to its grant, and the release.
#include "lock_queue.hpp"

#include <algorithm>

#include "lease.hpp"
#include "web_lock.hpp"

namespace tabacus {
namespace {

/// How many tokens a waiting tab reserves. A tab that has used them up releases the lock although
/// it is in its barging window. A turn takes longer than as many microseconds (LockEpochs).
constexpr std::int64_t tokens_in_line = 256;

Error aborted_error() { return {ErrorCode::aborted, "the request was aborted"}; }

std::int64_t tokens_of(const LockOptions& asked) { return asked.unfenced ? 0 : tokens_in_line; }

/// A free lock takes a moment to be granted, too: without any time the question is whether it is.
bool has_no_time(const LockOptions& options) {
    return options.timeout_ms && *options.timeout_ms <= 0 && !options.if_available &&
           !options.steal;
}

std::unique_ptr<NativeLock> make_native_lock(LockContext& context, const std::string& key) {
    if (context.world.locks().available()) return std::make_unique<WebLock>(context, key);
    if (context.epochs.fenced()) return std::make_unique<LeaseLock>(context, key);
    return std::make_unique<PageLock>(context, key);
}

}  // namespace

/// RAII guard: destroying the coroutine of a waiting caller withdraws its request; destroying it
/// after the grant releases the lock.
struct LockQueue::Withdrawal {
    Withdrawal(LockQueue& of, RequestPtr guarded) : queue(of), request(std::move(guarded)) {
        if (request->options.if_available) ++queue.trying_;
    }
    Withdrawal(const Withdrawal&) = delete;
    Withdrawal& operator=(const Withdrawal&) = delete;
    Withdrawal(Withdrawal&&) = delete;
    Withdrawal& operator=(Withdrawal&&) = delete;
    ~Withdrawal() {
        if (request->options.if_available) --queue.trying_;
        queue.refuse(request, aborted_error());
        if (request->grant) queue.release(*request->grant);
    }
    LockQueue& queue;
    RequestPtr request;
};

LockQueue::LockQueue(LockContext& context, std::string key, std::string name)
    : context_(context),
      key_(std::move(key)),
      name_(std::move(name)),
      native_lock_(make_native_lock(context, key_)) {}

Task<Held> LockTable::acquire(std::string name, LockOptions options) {
    return context_->queue(name).acquire(std::move(options));
}

Task<Held> LockQueue::acquire(LockOptions options) {
    if (options.signal && options.signal->aborted()) co_await fail(aborted_error());
    if (context_.closed) co_await fail(closed_error());
    if (const auto outer = outer_of(options)) {
        if (outer->mode == LockMode::shared && options.mode == LockMode::exclusive) {
            co_await fail(ErrorCode::invalid_argument,
                          "a shared lock cannot be entered again as exclusive: it would wait for "
                          "itself");
        }
        co_return Held(reenter(outer, options));
    }

    auto request = std::make_shared<AcquireRequest>();
    request->id = ++context_.last_id;
    request->since_ms = context_.stamp_ms();
    request->options = std::move(options);
    if (has_no_time(request->options)) request->late = request->options.if_available = true;
    const auto& asked = request->options;
    const Withdrawal withdrawal(*this, request);
    if (asked.signal) {
        asked.signal->on_abort([queue = weak_from_this(), weak = std::weak_ptr(request)] {
            const auto alive = queue.lock();
            const auto request = weak.lock();
            if (alive && request) alive->refuse(request, aborted_error());
        });
    }
    if (asked.timeout_ms && !request->late) context_.scope.spawn(expire(request));
    if (asked.steal) {
        context_.scope.spawn(steal(request));
    } else {
        request->alone = stands_alone(*request);
        join(request);
        const bool lines_up = request->alone || behind_a_contender(*request);
        start_driver();
        if (lines_up && !request->ended) context_.scope.spawn(take_position(request));
        if (asked.if_available && !request->ended) context_.scope.spawn(give_up(request));
        if (asked.within && !request->ended) context_.scope.spawn(probe(request));
        if (!request->ended) notify_of_waiter();
    }
    co_await request->decided.async();
    if (request->failure) co_await fail(*request->failure);
    if (request->late && !request->grant) co_await fail(late_error());
    co_return Held(std::exchange(request->grant, nullptr));
}

/// The innermost grant of this very lock that a request is asked under.
std::shared_ptr<Grant> LockQueue::outer_of(const LockOptions& options) {
    auto outer = options.within;
    while (outer && (outer->queue.lock().get() != this || !outer->held)) outer = outer->within;
    return outer;
}

/// A grant under the same native hold and with the same token, which is released by itself.
std::shared_ptr<Grant> LockQueue::reenter(const std::shared_ptr<Grant>& outer,
                                          const LockOptions& options) {
    auto inner = std::make_shared<Grant>(*outer);
    inner->within = options.within;
    inner->id = ++context_.last_id;
    inner->commits = 0;
    inner->on_lost.clear();
    if (!options.label.empty()) inner->label = options.label;
    inner->hold->active.push_back(inner);
    return inner;
}

void LockQueue::join(const RequestPtr& request) {
    if (waiting_.size() >= sweep_at_) {
        std::erase_if(waiting_, [](const RequestPtr& other) { return other->ended; });
        sweep_at_ = 2 * waiting_.size() + 16;
    }
    waiting_.push_back(request);
    newest_ = request->id;
}

LockQueue::RequestPtr LockQueue::front() {
    while (!waiting_.empty() && waiting_.front()->ended) waiting_.pop_front();
    return waiting_.empty() ? nullptr : waiting_.front();
}

/// Ends a request. Every request ends here or in refuse().
void LockQueue::settle(const RequestPtr& request, std::optional<Error> failure) {
    if (request->ended) return;
    request->ended = true;
    request->failure = std::move(failure);
    release_position(*request);
    request->decided.complete({});
}

/// Ends a request that waits; what was asked of the browser for its sake alone is taken back.
void LockQueue::refuse(const RequestPtr& request, const Error& error) {
    if (request->ended) return;
    const bool takes = acquiring_ && front() == request;
    request->ended = true;  // before anything else can grant it
    request->failure = error;
    release_position(*request);
    if (takes && !takes_over()) native_lock_->cancel();
    wake();
    request->decided.complete({});
}

/// Whether the tab's next request goes on with what was asked of the browser for one that ended.
/// It does not if it has a position of its own, which is behind another tab's, nor if it asked with
/// `ifAvailable`.
bool LockQueue::takes_over() {
    const auto next = front();
    if (!next || next->options.mode != acquiring_mode_ || position_of(*next) != positions_.end() ||
        came_between(acquiring_position_, *next)) {
        return false;
    }
    const auto& asked = next->options;
    const bool expired = next->late && *asked.timeout_ms > 0;  // it waited, and so may the next
    return !asked.if_available || expired;
}

// --- The native hold, and the grants under it ---------------------------------------------------

void LockQueue::start_driver() {
    if (driving_) {
        wake();
    } else if (!context_.suspended && !context_.closed) {
        context_.scope.spawn(drive());
    }
}

Task<void> LockQueue::drive() {
    driving_ = true;
    while (front() && !context_.suspended && !context_.closed) {
        co_await obtain();
        if (hold_) co_await serve(hold_);
    }
    driving_ = false;
}

Task<void> LockQueue::obtain() {
    const auto first = front();
    const auto& asked = first->options;
    acquiring_ = true;
    acquiring_mode_ = asked.mode;
    const auto position = pop_position(*first);
    acquiring_position_ = position.number;
    // If the position was taken ahead, all tabs behind it know of it already.
    if (!position.entry) announce_request(*first, acquiring_position_);
    // A later request of this tab whose position this is takes a new one, and so do those behind.
    if (position.owner != first->id && contenders_.empty()) release_positions();
    take_positions_behind(*first);
    const NativeRequest native{
        .mode = asked.mode,
        .if_available = asked.if_available,
        .claim = {.label = asked.label,
                  .max_hold_ms = static_cast<std::int64_t>(asked.max_hold_ms.value_or(0)),
                  .tokens = context_.world.locks().available() ? tokens_of(asked) : 1},
        .entry = position.entry};
    if (!watching_ && !asked.if_available) context_.scope.spawn(watch());
    auto outcome = co_await attempt(asked.if_available ? acquire_if_available(native)
                                                       : native_lock_->acquire(native));
    const auto taken = outcome ? std::move(outcome.value()) : nullptr;
    acquiring_ = false;
    busy_received_ = false;
    if (taken && (taken->lost || context_.suspended || context_.closed)) {
        native_lock_->release(taken);
        co_return;
    }
    if (taken) {
        was_served_before(acquiring_position_);
        hold_ = taken;
        adopt(taken);
    } else if (!outcome) {
        settle(first, outcome.error());
    } else if (asked.if_available) {
        settle(first, std::nullopt);
    }
}

void LockQueue::adopt(const std::shared_ptr<NativeHold>& hold) {
    hold->taken_ms = context_.world.clock().now_ms();
    hold->on_lost = [weak = weak_from_this(), of = std::weak_ptr(hold)](std::string_view reason) {
        const auto queue = weak.lock();
        const auto lost = of.lock();
        if (queue && lost) queue->lose(lost, reason);
    };
    changed();
}

Task<void> LockQueue::serve(std::shared_ptr<NativeHold> hold) {
    if (!admissible(*hold)) hold->entry_lock.reset();  // the caller that asked has gone
    while (!hold->lost) {
        if (const auto request = admissible(*hold)) {
            const bool spent = hold->mode == LockMode::exclusive && !request->options.unfenced &&
                               hold->tokens.empty();
            if (!spent) {
                request->grant = grant(request->options, hold);
                settle(request, std::nullopt);
                if (hold->uses == 1) {
                    context_.scope.spawn(announce_grant(hold));
                } else if (!contenders_.empty() && request->options.max_hold_ms) {
                    // Without this, no tab would see that something moves, and they would take this
                    // tab for a hung one.
                    context_.post(LockMessage::Kind::taken, key_);
                }
            } else if (came_late(*request) || !co_await reserve_tokens(hold)) {
                break;
            }
            continue;
        }
        if (hold->active.empty()) {
            if (must_release(*hold)) {
                if (co_await may_go_on(hold)) continue;
                break;
            }
            if (!std::exchange(hold->timing, true)) context_.scope.spawn(run_grace_timer(hold));
        } else if (waits_to_share(*hold) && co_await forget_contenders()) {
            if (contenders_.empty()) hold->taken_ms = context_.world.clock().now_ms();
            continue;
        } else {
            refuse_unavailable();
            if (waits_to_share(*hold) && !std::exchange(wake_pending_, true)) {
                context_.scope.spawn(wake_after_slice());
            }
        }
        co_await await_wake();
    }
    if (hold_ == hold) hold_.reset();
    if (!hold->lost) release_hold(hold);
}

std::shared_ptr<Grant> LockQueue::grant(const LockOptions& options,
                                        const std::shared_ptr<NativeHold>& hold) {
    auto granted = std::make_shared<Grant>();
    granted->queue = weak_from_this();
    granted->hold = hold;
    granted->within = options.within;
    granted->id = ++context_.last_id;
    granted->mode = hold->mode;
    granted->label = options.label;
    granted->since_ms = context_.stamp_ms();
    const bool fenced = hold->mode == LockMode::exclusive && !options.unfenced;
    if (fenced) granted->token = hold->tokens.next++;
    hold->active.push_back(granted);
    ++hold->uses;
    if (options.max_hold_ms) {
        granted->until_ms = context_.world.clock().monotonic_ms() + *options.max_hold_ms;
        context_.scope.spawn(limit(granted, *options.max_hold_ms));
    }
    return granted;
}

// --- Release ------------------------------------------------------------------------------------

bool Held::held() const { return grant_ && grant_->held; }

std::optional<std::int64_t> Held::token() const { return grant_ ? grant_->token : std::nullopt; }

std::string_view Held::loss() const { return grant_ ? std::string_view(grant_->loss) : ""; }

void Held::on_lost(Function<void(std::string_view)> callback) const {
    if (held()) grant_->on_lost.push_back(std::move(callback));
}

void Held::check_max_hold() const {
    if (!grant_) return;
    if (const auto queue = grant_->queue.lock()) queue->check_max_hold(grant_);
}

Held::~Held() { release(); }

void Held::release() {
    const auto grant = std::exchange(grant_, nullptr);
    if (!grant) return;
    if (const auto queue = grant->queue.lock()) queue->release(*grant);
}

void LockQueue::release(Grant& grant) {
    if (!std::exchange(grant.held, false)) return;
    if (grant.commits == 0) commit_ended(grant);
}

/// Detaches a grant that was released, once nothing is written under it any more.
void LockQueue::commit_ended(Grant& grant) {
    if (grant.held || grant.commits > 0 || !grant.hold) return;
    const auto hold = std::exchange(grant.hold, nullptr);
    std::erase_if(hold->active, [&](const auto& other) { return other.get() == &grant; });
    if (hold == hold_) {
        wake();
    } else if (hold->active.empty() && !hold->lost) {
        release_hold(hold);
    }
}

/// Wakes the driver when nothing was granted for grace_period_ms.
Task<void> LockQueue::run_grace_timer(std::shared_ptr<NativeHold> hold) {
    const auto self = weak_from_this();
    while (true) {
        const auto uses = hold->uses;
        co_await context_.world.clock().sleep(grace_period_ms);
        if (self.expired() || hold->lost) co_return;
        if (!hold->active.empty()) break;
        if (hold->uses != uses) continue;
        hold->expired = true;
        wake();
        break;
    }
    hold->timing = false;
}

void LockQueue::release_hold(const std::shared_ptr<NativeHold>& hold) {
    hold->lost = true;
    native_lock_->release(hold);
    std::erase(stolen_, hold);
    announce();
}

/// The holders are notified before any of their code can run again.
void LockQueue::lose(const std::shared_ptr<NativeHold>& hold, std::string_view reason) {
    if (std::exchange(hold->lost, true)) return;
    const auto lost = std::exchange(hold->active, {});
    for (const auto& grant : lost) {
        grant->hold.reset();
        if (!std::exchange(grant->held, false)) continue;
        grant->loss = reason;
        for (const auto& callback : std::exchange(grant->on_lost, {})) callback(reason);
    }
    native_lock_->release(hold);
    std::erase(stolen_, hold);
    wake();
    changed();
}

// --- Waking the driver --------------------------------------------------------------------------

void LockQueue::wake() {
    woken_ = true;
    const auto signal = std::exchange(wake_signal_, {});
    signal.complete({});
}

Task<void> LockQueue::await_wake() {
    if (!woken_) {
        const auto signal = wake_signal_;
        co_await signal.async();
    }
    woken_ = false;
}

// --- The life of the page (docs/decisions/0009) -------------------------------------------------

void LockQueue::suspend(std::string_view reason) {
    native_lock_->cancel();
    release_positions();
    const auto stolen = stolen_;
    for (const auto& hold : stolen) lose(hold, reason);
    if (hold_) lose(std::shared_ptr(hold_), reason);
}

void LockQueue::resume() {
    if (front()) start_driver();
    changed();  // messages that were sent meanwhile were not received
}

void LockQueue::close() {
    const auto requests = waiting_;
    for (const auto& request : requests) refuse(request, closed_error());
    suspend("closed");
}

}  // namespace tabacus
