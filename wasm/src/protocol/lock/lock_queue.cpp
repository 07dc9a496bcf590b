// Requests: how they come, wait, and end in exactly one way.
#include "lock_queue.hpp"

#include <algorithm>
#include <array>

#include "entry_lock.hpp"
#include "lease.hpp"

namespace tabacus {
namespace {

Error aborted_error() { return {ErrorCode::aborted, "the request was aborted"}; }
Error closed_error() { return {ErrorCode::closed, "the tab was closed"}; }
Error late_error() { return {ErrorCode::timed_out, "the lock was not granted in time"}; }

/// As long as a request whose time is over goes on when neither the browser nor the database
/// answers.
constexpr double overtime_ms = 1'000;

/// A free lock takes a moment to be granted, too: without any time the question is whether it is.
bool has_no_time(const LockOptions& options) {
    return options.timeout_ms && *options.timeout_ms <= 0 && !options.if_available &&
           !options.steal;
}

Error not_held(const Grant& grant) {
    return {ErrorCode::lock_lost, grant.loss.empty() ? "the lock was released before"
                                                     : "the lock was lost: " + grant.loss};
}

std::unique_ptr<Turnstile> make_turnstile(LockContext& context, const std::string& key) {
    if (context.world.locks().available()) return std::make_unique<WebTurnstile>(context, key);
    if (context.epochs.fenced()) return std::make_unique<LeaseTurnstile>(context, key);
    return std::make_unique<PageTurnstile>(context, key);
}

}  // namespace

/// Whose frame dies while it waits withdraws its request; who dies granted releases.
struct LockQueue::Withdrawal {
    Withdrawal(LockQueue& of, WaiterPtr request) : queue(of), waiter(std::move(request)) {
        if (waiter->options.if_available) ++queue.hasty_;
    }
    Withdrawal(const Withdrawal&) = delete;
    Withdrawal& operator=(const Withdrawal&) = delete;
    Withdrawal(Withdrawal&&) = delete;
    Withdrawal& operator=(Withdrawal&&) = delete;
    ~Withdrawal() {
        if (waiter->options.if_available) --queue.hasty_;
        queue.refuse(waiter, aborted_error());
        if (waiter->grant) queue.release(*waiter->grant);
    }
    LockQueue& queue;
    WaiterPtr waiter;
};

/// Until a transaction has begun: a grant of whom dies before is written under no more, either.
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
      turnstile_(make_turnstile(context, key_)) {}

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

    auto waiter = std::make_shared<Waiter>();
    waiter->id = ++context_.last_id;
    waiter->since_ms = context_.stamp_ms();
    waiter->options = std::move(options);
    if (has_no_time(waiter->options)) waiter->late = waiter->options.if_available = true;
    const auto& asked = waiter->options;
    const Withdrawal withdrawal(*this, waiter);
    if (asked.signal) {
        asked.signal->on_abort([queue = weak_from_this(), weak = std::weak_ptr(waiter)] {
            const auto alive = queue.lock();
            const auto request = weak.lock();
            if (alive && request) alive->refuse(request, aborted_error());
        });
    }
    if (asked.timeout_ms && !waiter->late) context_.scope.spawn(expire(waiter));
    if (asked.steal) {
        context_.scope.spawn(steal(waiter));
    } else {
        waiter->alone = stands_alone(*waiter);
        join(waiter);
        const bool lines_up = waiter->alone || behind_a_rival(*waiter);
        wake_driver();
        if (lines_up && !waiter->ended) context_.scope.spawn(line_up(waiter));
        if (asked.if_available && !waiter->ended) context_.scope.spawn(give_up(waiter));
        if (asked.within && !waiter->ended) context_.scope.spawn(probe(waiter));
        if (!waiter->ended) tell_of_waiter();
    }
    co_await waiter->decided.async();
    if (waiter->failure) co_await fail(*waiter->failure);
    if (waiter->late && !waiter->grant) co_await fail(late_error());
    co_return Held(std::exchange(waiter->grant, nullptr));
}

/// The innermost grant of this very lock that a request is asked under.
std::shared_ptr<Grant> LockQueue::outer_of(const LockOptions& options) {
    auto outer = options.within;
    while (outer && (outer->queue.lock().get() != this || !outer->held)) outer = outer->within;
    return outer;
}

/// The same possession and token, released by itself.
std::shared_ptr<Grant> LockQueue::reenter(const std::shared_ptr<Grant>& outer,
                                          const LockOptions& options) {
    auto inner = std::make_shared<Grant>(*outer);
    inner->within = options.within;
    inner->id = ++context_.last_id;
    inner->commits = 0;
    inner->on_lost.clear();
    if (!options.label.empty()) inner->label = options.label;
    inner->possession->active.push_back(inner);
    return inner;
}

void LockQueue::join(const WaiterPtr& waiter) {
    if (waiting_.size() >= sweep_at_) {
        std::erase_if(waiting_, [](const WaiterPtr& other) { return other->ended; });
        sweep_at_ = 2 * waiting_.size() + 16;
    }
    waiting_.push_back(waiter);
    newest_ = waiter->id;
}

LockQueue::WaiterPtr LockQueue::front() {
    while (!waiting_.empty() && waiting_.front()->ended) waiting_.pop_front();
    return waiting_.empty() ? nullptr : waiting_.front();
}

/// The one place where a request ends.
void LockQueue::settle(const WaiterPtr& waiter, std::optional<Error> failure) {
    if (waiter->ended) return;
    waiter->ended = true;
    waiter->failure = std::move(failure);
    leave_line(*waiter);
    waiter->decided.complete({});
}

/// Ends a request that waits; what was asked of the browser for its sake alone is taken back.
void LockQueue::refuse(const WaiterPtr& waiter, const Error& error) {
    if (waiter->ended) return;
    const bool takes = taking_ && front() == waiter;
    waiter->ended = true;  // before anything else can grant it
    waiter->failure = error;
    leave_line(*waiter);
    if (takes && !takes_over()) turnstile_->cancel();
    ring();
    waiter->decided.complete({});
}

/// Whether the tab's next request goes on with what was asked of the browser for one that ended.
/// Not if it has a place of its own, which is behind another tab's, nor if it never was to wait.
bool LockQueue::takes_over() {
    const auto next = front();
    if (!next || next->options.mode != taking_mode_ || place_of(*next) != places_.end() ||
        came_between(wanted_, *next)) {
        return false;
    }
    const auto& asked = next->options;
    const bool expired = next->late && *asked.timeout_ms > 0;  // it waited, and so may the next
    return !asked.if_available || expired;
}

Task<void> LockQueue::expire(WaiterPtr waiter) {
    const auto self = weak_from_this();
    const std::shared_ptr<const bool> ended(waiter, &waiter->ended);
    const auto passed = co_await outlasts(context_.world, *waiter->options.timeout_ms, ended, true);
    if (!passed || self.expired()) co_return;
    if (!waiter->options.steal) {
        if (!std::exchange(waiter->options.if_available, true)) {
            waiter->late = true;
            ++hasty_;
            ring();
        }
        co_await hear_out(waiter);
    }
    if (!self.expired()) refuse(waiter, late_error());
}

/// A timer may be due before the first answer to what the request asked. It then is the question
/// whether the lock is available: what was asked of the browser stands, since the tab's next
/// request may have its place in line, and this ends when that is known to wait for other tabs. One
/// that merely keeps the lock has the time to let go.
Task<void> LockQueue::hear_out(WaiterPtr waiter) {
    const auto self = weak_from_this();
    auto& clock = context_.world.clock();
    const auto end_ms = clock.monotonic_ms() + overtime_ms;
    bool once_more = true;
    while (!self.expired() && !waiter->ended && clock.monotonic_ms() < end_ms) {
        const bool waits = front() != waiter || !taking_ || co_await turnstile_->kept_waiting();
        if (self.expired() || waiter->ended) co_return;
        if (!waits) {
            co_await clock.sleep(keep_ms);
        } else if (busy_heard_ || !std::exchange(once_more, false)) {
            co_return;
        } else {
            co_await patience(context_.world, 2 * keep_ms);
        }
    }
}

Task<void> LockQueue::steal(WaiterPtr waiter) {
    const auto taken = co_await attempt(take_by_force(waiter));
    std::optional<Error> failure;
    if (!taken) {
        failure = taken.error();
    } else if (!waiter->grant) {
        failure = Error(ErrorCode::lock_lost, "the lock was stolen again before it was granted");
    }
    settle(waiter, std::move(failure));
}

double LockContext::stamp_ms() {
    constexpr double step_ms = 0.002;  // more than doubles and microseconds round away
    constexpr double set_back_ms = 1'000;
    const auto now_ms = world.clock().now_ms();
    const bool told = now_ms <= last_stamp_ms && now_ms > last_stamp_ms - set_back_ms;
    return last_stamp_ms = told ? last_stamp_ms + step_ms : now_ms;
}

Task<void> LockQueue::take_by_force(WaiterPtr waiter) {
    const auto& asked = waiter->options;
    const Turnstile::Wish wish{
        .steal = true,
        .claim = {asked.label, static_cast<std::int64_t>(asked.max_hold_ms.value_or(0))}};
    auto robbed = stolen_;
    if (possession_) robbed.push_back(possession_);
    const auto possession = co_await turnstile_->take(wish);
    // Who is robbed in this tab hears it at once, and where nothing else tells it.
    for (const auto& victim : robbed) lose(victim, "stolen");
    // What was robbed before it was granted nobody reports again, to have it forgotten.
    if (waiter->ended || context_.asleep || context_.closed || possession->lost) {
        turnstile_->let_go(possession);
        if (context_.closed) co_await fail(closed_error());
        if (context_.asleep) co_await fail(ErrorCode::lock_lost, "the page was hidden meanwhile");
        co_return;
    }
    stolen_.push_back(possession);
    possess(possession);
    if (!possession->tokens.empty()) waiter->grant = grant(asked, possession);
    context_.scope.spawn(make_known(possession));
}

// --- Grants -------------------------------------------------------------------------------------

void LockQueue::release(Grant& grant) {
    if (!std::exchange(grant.held, false)) return;
    if (grant.commits == 0) commit_ended(grant);
}

/// Detaches a grant that was released, once nothing is written under it any more.
void LockQueue::commit_ended(Grant& grant) {
    if (grant.held || grant.commits > 0 || !grant.possession) return;
    const auto possession = std::exchange(grant.possession, nullptr);
    std::erase_if(possession->active, [&](const auto& other) { return other.get() == &grant; });
    if (possession == possession_) {
        ring();
    } else if (possession->active.empty() && !possession->lost) {
        let_go(possession);
    }
}

/// The holders are told before anything of theirs can run again.
void LockQueue::lose(const std::shared_ptr<Possession>& possession, std::string_view reason) {
    if (std::exchange(possession->lost, true)) return;
    const auto robbed = std::exchange(possession->active, {});
    for (const auto& grant : robbed) {
        grant->possession.reset();
        if (!std::exchange(grant->held, false)) continue;
        grant->loss = reason;
        for (const auto& callback : std::exchange(grant->on_lost, {})) callback(reason);
    }
    turnstile_->let_go(possession);
    std::erase(stolen_, possession);
    ring();
    changed();
}

Task<FencedTransaction> LockQueue::begin(std::shared_ptr<Grant> grant, std::vector<Store> scope,
                                         Durability durability) {
    if (!grant->held) co_await fail(not_held(*grant));
    if (!grant->token || !context_.epochs.fenced()) {
        co_await fail(ErrorCode::unavailable, grant->token ? "a fenced commit needs IndexedDB"
                                                           : "a lock without a token has no fence");
    }
    Writing writing(grant);
    const auto possession = grant->possession;
    auto begun = co_await attempt(begin_under(grant, std::move(scope), durability));
    if (!begun) {
        if (begun.error().code() == ErrorCode::fenced) lose(possession, "fenced");
        co_await fail(begun.error());
    }
    co_return FencedTransaction(std::exchange(writing.grant, nullptr), std::move(begun.value()));
}

Task<std::unique_ptr<Transaction>> LockQueue::begin_under(std::shared_ptr<Grant> grant,
                                                          std::vector<Store> scope,
                                                          Durability durability) {
    const auto possession = grant->possession;
    auto transaction =
        co_await context_.epochs.transactions().begin(std::move(scope), Access::write, durability);
    co_await context_.epochs.check(*transaction, key_, possession->tokens);
    // What was released meanwhile still has its possession until this has ended.
    if (grant->possession != possession) co_await fail(not_held(*grant));
    co_return transaction;
}

// --- The life of the page (DESIGN §7) -----------------------------------------------------------

void LockQueue::fall_asleep(std::string_view reason) {
    turnstile_->cancel();
    leave_line();
    const auto stolen = stolen_;
    for (const auto& possession : stolen) lose(possession, reason);
    if (possession_) lose(std::shared_ptr(possession_), reason);
}

void LockQueue::wake_up() {
    if (front()) wake_driver();
    changed();  // what was told meanwhile was not heard
}

void LockQueue::close() {
    const auto requests = waiting_;
    for (const auto& waiter : requests) refuse(waiter, closed_error());
    fall_asleep("closed");
}

// --- Held ---------------------------------------------------------------------------------------

bool Held::held() const { return grant_ && grant_->held; }

std::optional<std::int64_t> Held::token() const { return grant_ ? grant_->token : std::nullopt; }

std::string_view Held::loss() const { return grant_ ? std::string_view(grant_->loss) : ""; }

void Held::on_lost(std::function<void(std::string_view)> callback) const {
    if (held()) grant_->on_lost.push_back(std::move(callback));
}

void Held::look() const {
    if (!grant_) return;
    if (const auto queue = grant_->queue.lock()) queue->look(grant_);
}

void Held::release() {
    const auto grant = std::exchange(grant_, nullptr);
    if (!grant) return;
    if (const auto queue = grant->queue.lock()) queue->release(*grant);
}

Task<FencedTransaction> Held::begin() { return begin({}, Durability::strict); }

Task<FencedTransaction> Held::begin(std::vector<Store> also, Durability durability) {
    const auto queue = grant_ ? grant_->queue.lock() : nullptr;
    if (!queue) co_await fail(ErrorCode::lock_lost, "the lock was released before");
    also.insert(also.end(), {Store::locks, Store::data});
    co_return co_await queue->begin(grant_, std::move(also), durability);
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
