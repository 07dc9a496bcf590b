// Requests: how they come, wait, and end in exactly one way.
#include "lock_queue.hpp"

#include <algorithm>

#include "lease.hpp"
#include "web_lock.hpp"

namespace tabacus {
namespace {

Error aborted_error() { return {ErrorCode::aborted, "the request was aborted"}; }
Error closed_error() { return {ErrorCode::closed, "the tab was closed"}; }
Error late_error() { return {ErrorCode::timed_out, "the lock was not granted in time"}; }

/// How long a request goes on after its timeout when neither the browser nor the database
/// answers.
constexpr double overtime_ms = 1'000;

/// A free lock takes a moment to be granted, too: without any time the question is whether it is.
bool has_no_time(const LockOptions& options) {
    return options.timeout_ms && *options.timeout_ms <= 0 && !options.if_available &&
           !options.steal;
}

Error not_held(const Grant& grant) {
    return {ErrorCode::lock_lost, grant.loss.empty() ? "the lock is already released"
                                                     : "the lock was lost: " + grant.loss};
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

/// RAII guard: counts a commit under the grant until its transaction has begun. If the caller's
/// coroutine is destroyed before that, the commit has ended.
struct LockQueue::Writing {
    explicit Writing(std::shared_ptr<Grant> of) : grant(std::move(of)) { ++grant->commits; }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;
    Writing(Writing&&) = delete;
    Writing& operator=(Writing&&) = delete;
    ~Writing() {
        if (!grant) return;
        --grant->commits;
        if (const auto queue = grant->queue.lock()) queue->commit_ended(*grant);
    }
    std::shared_ptr<Grant> grant;
};

LockQueue::LockQueue(LockContext& context, std::string key, std::string name)
    : context_(context),
      key_(std::move(key)),
      name_(std::move(name)),
      native_lock_(make_native_lock(context, key_)) {}

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

Task<void> LockQueue::expire(RequestPtr request) {
    const auto self = weak_from_this();
    const std::shared_ptr<const bool> ended(request, &request->ended);
    const auto passed =
        co_await outlasts(context_.world, *request->options.timeout_ms, ended, true);
    if (!passed || self.expired()) co_return;
    if (!request->options.steal) {
        if (!std::exchange(request->options.if_available, true)) {
            request->late = true;
            ++trying_;
            wake();
        }
        co_await await_first_answer(request);
    }
    if (!self.expired()) refuse(request, late_error());
}

/// A timeout may be over before the first answer to the request. The request then asks only whether
/// the lock is available. What was requested of the browser goes on, since the tab's next request
/// may inherit its position in line; this ends when it is known to wait for other tabs. A tab that
/// merely keeps the lock has the time to release it.
Task<void> LockQueue::await_first_answer(RequestPtr request) {
    const auto self = weak_from_this();
    auto& clock = context_.world.clock();
    const auto end_ms = clock.monotonic_ms() + overtime_ms;
    bool once_more = true;
    while (!self.expired() && !request->ended && clock.monotonic_ms() < end_ms) {
        const bool waits =
            front() != request || !acquiring_ || co_await native_lock_->is_known_to_wait();
        if (self.expired() || request->ended) co_return;
        if (!waits) {
            co_await clock.sleep(grace_period_ms);
        } else if (busy_received_ || !std::exchange(once_more, false)) {
            co_return;
        } else {
            co_await sleep_for_answers(context_.world, 2 * grace_period_ms);
        }
    }
}

Task<void> LockQueue::steal(RequestPtr request) {
    const auto taken = co_await attempt(acquire_by_stealing(request));
    std::optional<Error> failure;
    if (!taken) {
        failure = taken.error();
    } else if (!request->grant) {
        failure = Error(ErrorCode::lock_lost, "the lock was stolen again before it was granted");
    }
    settle(request, std::move(failure));
}

double LockContext::stamp_ms() {
    constexpr double step_ms = 0.002;  // more than doubles and microseconds round away
    constexpr double set_back_ms = 1'000;
    const auto now_ms = world.clock().now_ms();
    const bool repeats = now_ms <= last_stamp_ms && now_ms > last_stamp_ms - set_back_ms;
    return last_stamp_ms = repeats ? last_stamp_ms + step_ms : now_ms;
}

Task<void> LockQueue::acquire_by_stealing(RequestPtr request) {
    const auto& asked = request->options;
    const NativeRequest native{
        .steal = true,
        .claim = {asked.label, static_cast<std::int64_t>(asked.max_hold_ms.value_or(0))}};
    auto previous_holds = stolen_;
    if (hold_) previous_holds.push_back(hold_);
    const auto hold = co_await native_lock_->acquire(native);
    // The previous holders in this tab are notified at once, also where nothing else notifies them.
    for (const auto& previous : previous_holds) lose(previous, "stolen");
    // A hold that was stolen before it was adopted is not reported as lost later: it ends here.
    if (request->ended || context_.suspended || context_.closed || hold->lost) {
        native_lock_->release(hold);
        if (context_.closed) co_await fail(closed_error());
        if (context_.suspended) {
            co_await fail(ErrorCode::lock_lost, "the page was frozen or hidden: try again");
        }
        co_return;
    }
    stolen_.push_back(hold);
    adopt(hold);
    if (!hold->tokens.empty()) request->grant = grant(asked, hold);
    context_.scope.spawn(announce_grant(hold));
}

// --- Grants -------------------------------------------------------------------------------------

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

Task<FencedTransaction> LockQueue::begin(std::shared_ptr<Grant> grant, Stores scope,
                                         Durability durability) {
    if (!grant->held) co_await fail(not_held(*grant));
    if (!grant->token || !context_.epochs.fenced()) {
        co_await fail(ErrorCode::unavailable, grant->token ? "a fenced commit needs IndexedDB"
                                                           : "a lock without a token has no fence");
    }
    Writing writing(grant);
    const auto hold = grant->hold;
    auto begun = co_await attempt(begin_under(grant, scope, durability));
    if (!begun) {
        if (begun.error().code() == ErrorCode::fenced) lose(hold, "fenced");
        co_await fail(begun.error());
    }
    co_return FencedTransaction(std::exchange(writing.grant, nullptr), std::move(begun.value()));
}

Task<std::unique_ptr<Transaction>> LockQueue::begin_under(std::shared_ptr<Grant> grant,
                                                          Stores scope, Durability durability) {
    const auto hold = grant->hold;
    auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, durability);
    co_await context_.epochs.check(*transaction, key_, hold->tokens);
    // A grant that was released meanwhile still has its native hold until this has ended.
    if (grant->hold != hold) co_await fail(not_held(*grant));
    co_return transaction;
}

// --- The life of the page (docs/decisions/0009) --------------------------------------------------

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

// --- Held ---------------------------------------------------------------------------------------

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

void Held::release() {
    const auto grant = std::exchange(grant_, nullptr);
    if (!grant) return;
    if (const auto queue = grant->queue.lock()) queue->release(*grant);
}

Task<FencedTransaction> Held::begin() { return begin({}, Durability::strict); }

Task<FencedTransaction> Held::begin(Stores also, Durability durability) {
    const auto queue = grant_ ? grant_->queue.lock() : nullptr;
    if (!queue) co_await fail(ErrorCode::lock_lost, "the lock is already released");
    constexpr Stores scope{Store::locks, Store::data};
    co_return co_await queue->begin(grant_, also | scope, durability);
}

// --- FencedTransaction --------------------------------------------------------------------------

FencedTransaction::FencedTransaction(std::shared_ptr<Grant> grant,
                                     std::unique_ptr<Transaction> transaction)
    : grant_(std::move(grant)), transaction_(std::move(transaction)) {}

FencedTransaction::~FencedTransaction() {
    if (!grant_) return;
    transaction_.reset();
    --grant_->commits;
    if (const auto queue = grant_->queue.lock()) queue->commit_ended(*grant_);
}

Task<std::optional<std::string>> FencedTransaction::get(std::string store, std::string key) {
    auto row = co_await transaction_->get(Store::data, data_key(store, key));
    if (!row || row->foreign) co_return std::nullopt;
    co_return std::move(row->value);
}

Task<std::vector<Row>> FencedTransaction::list(std::string store, std::string prefix) {
    auto rows = co_await transaction_->list(Store::data, data_key(store, prefix));
    const auto skipped = data_key(store, "").size();
    std::erase_if(rows, [](const Row& row) { return row.foreign; });
    for (auto& row : rows) row.key.erase(0, skipped);
    co_return rows;
}

void FencedTransaction::put(std::string_view store, std::string_view key, std::string_view value) {
    transaction_->put(Store::data, data_key(store, key), value);
}

void FencedTransaction::remove(std::string_view store, std::string_view key) {
    transaction_->remove(Store::data, data_key(store, key));
}

Task<std::optional<std::string>> FencedTransaction::note() {
    const auto queue = grant_->queue.lock();
    if (!queue) co_return std::nullopt;
    auto row = co_await transaction_->get(Store::locks, note_key(queue->key()));
    if (!row || row->foreign) co_return std::nullopt;
    co_return std::move(row->value);
}

void FencedTransaction::set_note(std::string_view text) {
    const auto queue = grant_->queue.lock();
    if (queue) transaction_->put(Store::locks, note_key(queue->key()), text);
}

Task<void> FencedTransaction::commit() {
    if (!grant_->held && !grant_->loss.empty()) co_await fail(not_held(*grant_));
    co_await transaction_->commit();
}

}  // namespace tabacus
