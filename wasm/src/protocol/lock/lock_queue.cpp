#include "lock_queue.hpp"

#include "lease/lease.hpp"
#include "protocol/common/record.hpp"
#include "web_lock.hpp"

namespace tabacus {
namespace {

Error aborted_error() { return {ErrorCode::aborted, "the request was aborted"}; }

/// Whether the timeout of a request is 0 or less. Even a free lock takes a moment to be granted,
/// so such a request asks only whether the lock is available.
bool has_no_time(const LockOptions& options) {
    return options.timeout_ms && *options.timeout_ms <= 0 && !options.if_available &&
           !options.steal;
}

std::unique_ptr<NativeLock> make_native_lock(LockContext& context, Scope& scope,
                                             const std::string& key) {
    if (context.world.locks().available()) return std::make_unique<WebLock>(context, scope, key);
    if (context.epochs.fenced()) return std::make_unique<LeaseLock>(context, key);
    return std::make_unique<PageLock>(context, key);
}

}  // namespace

/// RAII guard: destroying the coroutine of a waiting caller withdraws its request; destroying it
/// after the grant releases the lock.
struct LockQueue::Withdrawal {
    Withdrawal(LockQueue& of, AcquireRequestPtr guarded) : queue(of), request(std::move(guarded)) {
        if (request->options.if_available) queue.requests_.add_try();
    }
    Withdrawal(const Withdrawal&) = delete;
    Withdrawal& operator=(const Withdrawal&) = delete;
    Withdrawal(Withdrawal&&) = delete;
    Withdrawal& operator=(Withdrawal&&) = delete;
    ~Withdrawal() {
        if (request->options.if_available) queue.requests_.remove_try();
        queue.driver_.refuse(request, aborted_error());
        if (request->grant) queue.holds_.release(*request->grant);
    }
    LockQueue& queue;
    AcquireRequestPtr request;
};

LockQueue::LockQueue(LockContext& context, std::string key, std::string name)
    : lock_(context, scope_, std::move(key), std::move(name)),
      holds_(lock_, listeners_, contenders_),
      order_(lock_, requests_, contenders_, holds_),
      availability_(lock_),
      hand_over_(lock_, requests_, contenders_, order_),
      evictor_(lock_, requests_, holds_),
      check_(lock_, requests_, holds_, evictor_),
      driver_(lock_, requests_, contenders_, holds_, order_, availability_, hand_over_, evictor_,
              check_),
      expiry_(lock_, requests_, holds_, availability_, driver_),
      probe_(lock_, requests_, holds_, driver_),
      observer_(lock_, listeners_, requests_, holds_, availability_) {
    lock_.native = make_native_lock(context, scope_, lock_.key);
}

std::shared_ptr<LockQueue> LockQueue::make(LockContext& context, const std::string& key,
                                           std::string_view name) {
    auto queue = std::make_shared<LockQueue>(context, key, std::string(name));
    queue->holds_.set_self(std::shared_ptr<NativeHolds>(queue, &queue->holds_));
    return queue;
}

// --- Requests -----------------------------------------------------------------------------------

Task<Held> LockQueue::acquire(std::shared_ptr<LockQueue> /*self*/, LockOptions options) {
    if (options.signal && options.signal->aborted()) co_await fail(aborted_error());
    if (lock_.context.state.closed()) co_await fail(lock_.context.state.end_error());
    if (const auto outer = holds_.outer_of(options)) {
        if (outer->mode == LockMode::shared && options.mode == LockMode::exclusive) {
            co_await fail(ErrorCode::invalid_argument,
                          "a shared lock cannot be entered again as exclusive: it would wait for "
                          "itself");
        }
        co_return Held(holds_.reenter(outer, options));
    }
    const auto request = make_request(std::move(options));
    const Withdrawal withdrawal(*this, request);
    enqueue(request);
    co_await request->decided.async();
    if (request->failure) co_await fail(*request->failure);
    if (request->expired && !request->grant) co_await fail(timeout_error());
    co_return Held(std::exchange(request->grant, nullptr));
}

AcquireRequestPtr LockQueue::make_request(LockOptions options) {
    auto request = std::make_shared<AcquireRequest>();
    request->id = lock_.context.stamps.next_id();
    lock_.context.stamps.read_ms(lock_.clock());
    request->since_ms = lock_.context.stamps.next_ms();
    request->options = std::move(options);
    auto& asked = request->options;
    asked.unfenced |=
        asked.fence_optional && lock_.has_web_locks() && !lock_.context.epochs.fenced();
    if (has_no_time(request->options)) request->expired = request->options.if_available = true;
    return request;
}

/// Puts the request into the queue, and starts whatever may grant it or end it.
void LockQueue::enqueue(const AcquireRequestPtr& request) {
    const auto& asked = request->options;
    if (asked.signal) {
        asked.signal->on_abort([queue = weak_from_this(), weak = std::weak_ptr(request)] {
            const auto alive = queue.lock();
            const auto request = weak.lock();
            if (alive && request) alive->driver_.refuse(request, aborted_error());
        });
    }
    if (asked.timeout_ms && !request->expired) expiry_.start_timeout(request);
    if (asked.steal) {
        driver_.steal(request);
        return;
    }
    request->alone = order_.stands_alone(*request);
    requests_.join(request);
    const bool lines_up = request->alone || order_.behind_a_contender(*request);
    driver_.start();
    if (asked.max_hold_ms) evictor_.check_again();
    if (asked.evict_unresponsive && !asked.if_available) check_.start();
    if (lines_up && !request->ended) order_.take_position(request);
    if (asked.if_available && !request->ended) expiry_.start_try(request);
    if (asked.within && !request->ended) probe_.start(request);
    if (!request->ended) observer_.on_waiter();
}

// --- Messages between tabs ----------------------------------------------------------------------

void LockQueue::broadcast(const std::string& about) {
    lock_.post(LockMessage::Kind::broadcast, {about});
    listeners_.broadcast(about);
}

void LockQueue::on_message(const LockMessage& message) {
    const auto& detail = message.detail;
    switch (message.kind) {
        case LockMessage::Kind::request:
            order_.on_request(message);
            lock_.wake.set();
            if (!FairOrder::announces_next(message)) observer_.on_waiter();
            break;
        case LockMessage::Kind::ask:
            if (holds_.any()) lock_.post_near(LockMessage::Kind::alive);
            break;
        case LockMessage::Kind::alive:
            check_.on_alive();
            break;
        case LockMessage::Kind::busy:
            on_busy(detail);
            break;
        case LockMessage::Kind::released:
            observer_.on_released(message.tab);
            [[fallthrough]];
        case LockMessage::Kind::handed:
            on_handed(message.tab);
            break;
        case LockMessage::Kind::taken:
            evictor_.on_movement();
            check_.on_taken();
            observer_.on_taken(message.tab);
            break;
        case LockMessage::Kind::query:
            observer_.on_query(message);
            break;
        case LockMessage::Kind::report:
            if (LockObserver::reports_hold(message)) check_.on_sign();
            observer_.on_report(message);
            lock_.native->on_report(message);
            break;
        case LockMessage::Kind::probe:
            probe_.on_probe(message);
            break;
        case LockMessage::Kind::victim:
            probe_.on_victim(message);
            break;
        case LockMessage::Kind::broadcast:
            listeners_.broadcast(detail.empty() ? std::string() : detail[0]);
            break;
        case LockMessage::Kind::echo:
            break;
    }
}

void LockQueue::on_handed(const std::string& tab) {
    check_.on_sign();
    observer_.unfollow(tab);
    availability_.on_release();
    lock_.native->on_possible_release();
    listeners_.changed();
}

/// An answer to an earlier request of this tab shows only that a holder lives.
void LockQueue::on_busy(const std::vector<std::string>& detail) {
    check_.on_sign();
    if (holds_.acquiring() &&
        detail == std::vector{lock_.context.epochs.tab(),
                              format_decimal(static_cast<std::int64_t>(order_.current()))})
        availability_.on_busy();
}

// --- The life of the page (docs/decisions/0009) -------------------------------------------------

void LockQueue::suspend(std::string_view reason) {
    lock_.native->cancel();
    check_.end();
    order_.release_positions();
    holds_.lose_all(reason);
    observer_.unfollow_all();
}

void LockQueue::resume() {
    if (is_near()) lock_.listen_near();
    observer_.resume();
    if (requests_.front()) driver_.start();
    listeners_.changed();  // messages that were sent meanwhile were not received
}

void LockQueue::close() {
    const auto requests = requests_.all();
    for (const auto& request : requests) driver_.refuse(request, lock_.context.state.end_error());
    suspend("closed");
}

}  // namespace tabacus
