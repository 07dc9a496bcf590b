// The commits of a holder under the fence of its lock.
#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"
#include "queue/native_holds.hpp"

namespace tabacus {
namespace {

Error not_held(const Grant& grant) {
    return {ErrorCode::lock_lost, grant.loss.empty() ? "the lock is already released"
                                                     : "the lock was lost: " + grant.loss};
}

/// RAII guard: counts a commit under the grant until its transaction has begun. If the caller's
/// coroutine is destroyed before that, the commit has ended.
struct Writing {
    explicit Writing(std::shared_ptr<Grant> of) : grant(std::move(of)) { ++grant->commits; }
    Writing(const Writing&) = delete;
    Writing& operator=(const Writing&) = delete;
    Writing(Writing&&) = delete;
    Writing& operator=(Writing&&) = delete;
    ~Writing() {
        if (!grant) return;
        --grant->commits;
        if (const auto holds = grant->holds.lock()) holds->commit_ended(*grant);
    }
    std::shared_ptr<Grant> grant;
};

}  // namespace

Task<FencedTransaction> NativeHolds::begin(std::shared_ptr<Grant> grant, Stores scope,
                                           Durability durability) {
    if (!grant->held) co_await fail(not_held(*grant));
    if (!grant->token || !lock_.context.epochs.fenced()) {
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

Task<std::unique_ptr<Transaction>> NativeHolds::begin_under(std::shared_ptr<Grant> grant,
                                                            Stores scope, Durability durability) {
    const auto hold = grant->hold;
    auto transaction = co_await lock_.context.epochs.begin(scope, Access::write, durability);
    co_await lock_.context.epochs.check(*transaction, lock_.key, hold->tokens);
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
    if (const auto holds = grant_->holds.lock()) holds->commit_ended(*grant_);
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
    const auto holds = grant_->holds.lock();
    if (!holds) co_return std::nullopt;
    auto row = co_await transaction_->get(Store::locks, note_key(holds->key()));
    if (!row || row->foreign) co_return std::nullopt;
    co_return std::move(row->value);
}

void FencedTransaction::set_note(std::string_view text) {
    const auto holds = grant_->holds.lock();
    if (holds) transaction_->put(Store::locks, note_key(holds->key()), text);
}

void FencedTransaction::prove() {
    const auto holds = grant_->holds.lock();
    if (!holds) return;
    // A lock that is entered again has the same token, and another number in this tab.
    transaction_->put(Store::locks, proof_key(holds->key()),
                      concat({format_decimal(grant_->token.value_or(0)), ";",
                              format_decimal(static_cast<std::int64_t>(grant_->id)), ";",
                              format_decimal(++grant_->proofs)}));
}

Task<void> FencedTransaction::commit() {
    if (!grant_->held && !grant_->loss.empty()) co_await fail(not_held(*grant_));
    co_await transaction_->commit();
}

}  // namespace tabacus
