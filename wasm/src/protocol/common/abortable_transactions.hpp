// AbortableTransactions: transactions that a page aborts when it is frozen or hidden in the
// back/forward cache. The page begins no other one until it resumes.
//
//   state      begin()                    event      next state, effect
//   running    begins a transaction       stop()     stopped; aborts what does not commit yet
//   stopped    waits                      resume()   running; the waiting calls begin
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus {

class AbortableTransactions {
  public:
    explicit AbortableTransactions(World& world) : world_(world) {}

    /// Begins a transaction, as Database::begin() does, once the page is not stopped.
    Task<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability) {
        const auto waiting = waiting_;
        while (waiting->stopped) {
            const Completer<Unit> resumed;
            waiting->callers.push_back(resumed);
            co_await resumed.async();
        }
        co_return co_await world_.database().begin(scope, access, durability, &group_);
    }
    /// Aborts the transactions that do not commit yet. Until resume() is called, begin() waits: a
    /// transaction that is begun while the page stops would end only when the page resumes, and
    /// would block the transactions of all tabs until then.
    void stop() const {
        waiting_->stopped = true;
        group_.abort_all();
    }
    void resume() const {
        waiting_->stopped = false;
        for (const auto& one : std::exchange(waiting_->callers, {})) one.complete({});
    }

  private:
    struct Waiting {
        bool stopped = false;
        std::vector<Completer<Unit>> callers;
    };

    World& world_;
    TransactionGroup group_;
    std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
};

/// Awaits `read()`. If it fails with store_failed, tries again after 20 ms, up to four times in
/// all. The reason for such a failure is often temporary: a connection was dropped, or the page
/// stopped during the read. (The timer of a page that stopped goes on when the page resumes.) Fails
/// as the last read does.
template <typename Read>
auto read_again(World& world, Read read) -> decltype(read()) {
    constexpr int attempts_max = 4;
    constexpr double pause_ms = 20;
    for (int tried = 1;; ++tried) {
        auto outcome = co_await attempt(read());
        if (outcome) co_return std::move(outcome.value());
        const Error error = outcome.error();
        if (error.code() != ErrorCode::store_failed || tried == attempts_max) co_await fail(error);
        co_await world.clock().sleep(pause_ms);
    }
}

}  // namespace tabacus
