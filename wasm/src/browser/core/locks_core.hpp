// LocksCore: the locks of the tab's LockTable, single flight, semaphores, calls to a leader and
// fenced transactions, as JavaScript calls them. JavaScript identifies held locks, transactions and
// watches by numbers. Each result is passed to a promise.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "browser/core/abortable_requests.hpp"
#include "browser/core/counter_core.hpp"
#include "tabacus/lock/leader.hpp"
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
          leader_(world, table, notify) {}

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
    double token(int held) const;
    /// Loses the lock if it has been held for longer than its maxHold.
    void check_max_hold(int held) const;
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
    void settle_once(const std::string& key, int held, OnceOutcome outcome, PromiseId promise);

    // Calls to a leader.
    void call_leader(const std::string& name, const std::string& call, LeaderCallOptions options,
                     int request, PromiseId promise);
    void begin_term(const std::string& name, int term, PromiseId promise);
    /// Resolves with nothing if the term was handed over.
    void next_call(const std::string& name, int term, PromiseId promise);
    /// Begins a fenced transaction that answers the call `id`. Resolves with its number, or with 0
    /// if the call was answered before or its caller has taken it back.
    void begin_answer(const std::string& name, const std::string& id, int term, PromiseId promise);
    /// Writes the answer and `writes` in that transaction, and commits it.
    void answer(const std::string& name, const std::string& id, int transaction,
                LeaderAnswer answer, std::vector<FencedWrite> writes, PromiseId promise);

    // Fenced transactions.

    /// Begins one. Resolves with its number.
    void begin(int held, PromiseId promise);
    void get(int transaction, const std::string& store, const std::string& key, PromiseId promise);
    void list(int transaction, const std::string& store, const std::string& prefix,
              PromiseId promise);
    void commit(int transaction, std::vector<FencedWrite> writes, PromiseId promise);
    void end(int transaction) { transactions_.erase(transaction); }

  private:
    using Numbers = std::vector<int>;
    Task<Numbers> take(std::vector<std::string> names, LockOptions options);
    Task<Numbers> take_permit(std::string name, int permits, LockOptions options);
    void prepare(LockOptions& options, int within, int request);
    int keep(Held held);
    Task<std::int64_t> open(int held);
    Task<void> write(int transaction, std::vector<FencedWrite> writes);
    Task<FencedTransaction> written(int transaction, std::vector<FencedWrite> writes);
    Task<std::int64_t> open_answer(std::string name, std::string id, std::shared_ptr<Grant> term);
    Task<void> give(std::string name, std::string id, int transaction, LeaderAnswer answer,
                    std::vector<FencedWrite> writes);
    int keep(FencedTransaction transaction);
    [[nodiscard]] std::shared_ptr<Grant> term(int held) const;

    LockTable& table_;
    Once once_;
    Semaphore semaphore_;
    Leader leader_;
    int last_ = 0;
    std::map<int, Held> held_;
    std::map<int, std::shared_ptr<FencedTransaction>> transactions_;
    AbortableRequests requests_;
    std::map<int, Subscription> watches_;
    Scope scope_;
};

}  // namespace tabacus::browser
