#include "shared_transactions.hpp"

#include <algorithm>
#include <utility>

namespace tabacus {

Task<void> SharedTransactions::run(std::string key, Body body) {
    const auto joinable = [&](const std::vector<std::string>& keys) {
        return keys.size() < users_max && std::find(keys.begin(), keys.end(), key) == keys.end();
    };
    if (gathering_.empty() || !joinable(gathering_.back()->keys)) {
        gathering_.emplace_back(std::make_unique<Batch>());
    }
    const auto batch = gathering_.back();
    batch->keys.push_back(std::move(key));
    ++batch->users;
    if (!running_) scope_.spawn(loop());
    if (!batch->transaction && !batch->failure) co_await batch->begin.wait();
    if (batch->failure) co_await fail(*batch->failure);
    const auto done = co_await attempt(body(*batch->transaction));
    if (--batch->users == 0) batch->release.release_all();
    if (!done) co_await fail(done.error());
    if (access_ == Access::read) co_return;
    if (!batch->ended) co_await batch->end.wait();
    if (batch->failure) co_await fail(*batch->failure);
}

Task<void> SharedTransactions::loop() {
    running_ = true;
    while (!gathering_.empty()) {
        const auto batch = gathering_.front();
        gathering_.pop_front();
        auto begun = co_await attempt(begin_());
        if (!begun) {
            batch->failure = begun.error();
            batch->begin.release_all();
            continue;
        }
        batch->transaction = std::move(begun.value());
        batch->begin.release_all();
        if (batch->users > 0) co_await batch->release.wait();
        if (access_ == Access::write) {
            const auto outcome = co_await attempt(batch->transaction->commit());
            if (!outcome) batch->failure = outcome.error();
        }
        batch->ended = true;
        batch->transaction.reset();
        batch->end.release_all();
    }
    running_ = false;
}

}  // namespace tabacus
