// AbortableTransactions: the transactions of a user that stops with the page. A page that is being
// frozen aborts them all in the same turn, and begins none until it goes on.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "tabacus/common/world.hpp"

namespace tabacus {

class AbortableTransactions {
  public:
    explicit AbortableTransactions(World& world) : world_(world) {}

    /// Waits while the page is stopped.
    Task<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability) {
        const auto waiting = waiting_;
        while (waiting->stopped) {
            const Completer<Unit> resumed;
            waiting->callers.push_back(resumed);
            co_await resumed.async();
        }
        co_return co_await world_.database().begin(scope, access, durability, &group_);
    }
    /// Aborts those that do not commit yet. Until resume() is called, begin() waits: a transaction
    /// that a page begins while it stops would end only when the page goes on, and block all others.
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

/// Reads again what failed for a passing reason, such as a dropped connection or a page that
/// stopped during the read. A page that stopped reads again when it goes on, and its timers with
/// it.
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
