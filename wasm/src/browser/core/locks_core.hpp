// LocksCore: the locks of the tab's LockTable, single flight and semaphores, as JavaScript calls
// them. JavaScript identifies held locks and watches by numbers. Each result is passed to a promise.
// The fenced transactions and the calls to a leader have cores of their own.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "browser/core/abortable_requests.hpp"
#include "browser/core/counter_core.hpp"
#include "browser/core/held_locks.hpp"
#include "browser/core/leader_core.hpp"
#include "browser/core/transactions_core.hpp"
#include "tabacus/lock/lock.hpp"
#include "tabacus/lock/once.hpp"
#include "tabacus/lock/semaphore.hpp"

namespace tabacus::browser {

class LocksCore {
  public:
    LocksCore(World& world, LockTable& table)
        : table_(table),
          once_(world, table),
          semaphore_(world, table),
          transactions_(held_),
          leader_(world, table, held_, transactions_, requests_) {}

    TransactionsCore& transactions() { return transactions_; }
    LeaderCore& leader() { return leader_; }

    /// Acquires the locks. Resolves with their numbers, or with an empty list if `ifAvailable` was
    /// set and not all are available. `within` is the number of an outer lock that the caller
    /// holds, 0 if there is none.
    void acquire(std::vector<std::string> names, LockOptions options, int within, int request,
                 PromiseId promise);
    /// Acquires one permit of a semaphore. Resolves as acquire() does.
    void acquire_permit(const std::string& name, int permits, LockOptions options, int within,
                        int request, PromiseId promise);
    void abort(int request) { requests_.abort(request); }
    /// Returns the fencing token; NaN for a shared lock, or for one that is not held.
    double token(int held) const { return held_.token(held); }
    /// Loses the lock if it has been held for longer than its maxHold.
    void check_max_hold(int held) const { held_.check_max_hold(held); }
    void release(int held);
    void query(const std::string& name, PromiseId promise) {
        settle(scope_, table_.query(name), promise);
    }
    void names(PromiseId promise) { settle(scope_, table_.names(), promise); }
    void wait_for_unlock(const std::string& name, std::optional<double> timeout_ms, int request,
                         PromiseId promise);
    /// Calls the host with the number `watch` whenever the lock has changed, until unwatch().
    void watch(const std::string& name, int watch);
    void unwatch(int watch) { watches_.erase(watch); }
    void capabilities(PromiseId promise) const;

    // Single flight.
    void enter(const std::string& key, LockOptions options, OnceAge age, int request,
               PromiseId promise);
    void settle_once(const std::string& key, int held, OnceOutcome outcome, OnceAge age,
                     PromiseId promise);
    void forget_once(const std::string& key, PromiseId promise);

  private:
    using Numbers = std::vector<int>;
    Task<Numbers> take(std::vector<std::string> names, LockOptions options);
    Task<Numbers> take_permit(std::string name, int permits, LockOptions options);
    void prepare(LockOptions& options, int within, int request);

    LockTable& table_;
    Once once_;
    Semaphore semaphore_;
    HeldLocks held_;
    AbortableRequests requests_;
    TransactionsCore transactions_;
    LeaderCore leader_;
    std::map<int, Subscription> watches_;
    Scope scope_;
};

}  // namespace tabacus::browser
