#include "browser/core/transactions_core.hpp"

#include <utility>

namespace tabacus::browser {
namespace {

Error ended() { return {ErrorCode::closed, "the transaction has ended"}; }

}  // namespace

Task<std::int64_t> TransactionsCore::open(int held) {
    auto* const lock = held_.find(held);
    if (lock == nullptr) co_await fail(ErrorCode::lock_lost, "the lock is already released");
    co_return keep(co_await lock->begin());
}

int TransactionsCore::keep(FencedTransaction transaction) {
    const int number = ++last_;
    transactions_[number] = std::make_shared<FencedTransaction>(std::move(transaction));
    return number;
}

void TransactionsCore::get(int transaction, const std::string& store, const std::string& key,
                           PromiseId promise) {
    const auto found = transactions_.find(transaction);
    if (found == transactions_.end()) return Reject{promise}(failure_of(ended()));
    settle(
        scope_,
        [](std::shared_ptr<FencedTransaction> of, std::string from,
           std::string what) -> Task<Text> {
            // The argument is moved, because a parameter would live as long as the frame of the
            // coroutine.
            const auto read = std::move(of);
            co_return co_await read->get(std::move(from), std::move(what));
        }(found->second, store, key),
        promise);
}

void TransactionsCore::list(int transaction, const std::string& store, const std::string& prefix,
                            PromiseId promise) {
    const auto found = transactions_.find(transaction);
    if (found == transactions_.end()) return Reject{promise}(failure_of(ended()));
    settle(
        scope_,
        [](std::shared_ptr<FencedTransaction> of, std::string from,
           std::string start) -> Task<std::vector<Row>> {
            const auto listed = std::move(of);
            co_return co_await listed->list(std::move(from), std::move(start));
        }(found->second, store, prefix),
        promise);
}

Task<void> TransactionsCore::write(int transaction, std::vector<FencedWrite> writes) {
    auto writing = co_await written(transaction, std::move(writes));
    writing.prove();
    co_await writing.commit();
}

Task<FencedTransaction> TransactionsCore::written(int transaction,
                                                  std::vector<FencedWrite> writes) {
    const auto found = transactions_.extract(transaction);
    if (found.empty()) co_await fail(ended());
    auto& writing = *found.mapped();
    for (const auto& [store, key, value] : writes) {
        if (value) {
            writing.put(store, key, *value);
        } else {
            writing.remove(store, key);
        }
    }
    co_return std::move(writing);
}

}  // namespace tabacus::browser
