// What a holder writes under the fence of its lock.
#include "lock_queue.hpp"

namespace tabacus {
namespace {

Error not_held(const Grant& grant) {
    return {ErrorCode::lock_lost, grant.loss.empty() ? "the lock is already released"
                                                     : "the lock was lost: " + grant.loss};
}

}  // namespace

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

Task<FencedTransaction> Held::begin() { return begin({}, Durability::strict); }

Task<FencedTransaction> Held::begin(Stores also, Durability durability) {
    const auto queue = grant_ ? grant_->queue.lock() : nullptr;
    if (!queue) co_await fail(ErrorCode::lock_lost, "the lock is already released");
    constexpr Stores scope{Store::locks, Store::data};
    co_return co_await queue->begin(grant_, also | scope, durability);
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
    auto transaction = co_await context_.epochs.begin(scope, Access::write, durability);
    co_await context_.epochs.check(*transaction, key_, hold->tokens);
    // A grant that was released meanwhile still has its native hold until this has ended.
    if (grant->hold != hold) co_await fail(not_held(*grant));
    co_return transaction;
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
