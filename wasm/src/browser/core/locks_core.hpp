// What JavaScript holds of locks: those of the tab's LockTable, whose results settle promises of
// JavaScript's. Failures end here, as a code and a message.
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

    /// `texts`: label, names. Resolves with the number of each held lock, as a number if it is
    /// one, or with 0: not available.
    void acquire(const Texts& texts, LockOptions options, int within, int request,
                 PromiseId promise);
    /// Acquires one permit of a semaphore. `texts`: label, name.
    void acquire_permit(const Texts& texts, int permits, LockOptions options, int within,
                        int request, PromiseId promise);
    void abort(int request) { requests_.abort(request); }
    /// NaN of a shared lock.
    double token(int held) const;
    /// Loses the lock if its maxHold is over.
    void check_max_hold(int held) const;
    void release(int held);
    void query(const std::string& name, PromiseId promise);
    void names(PromiseId promise);
    void wait_for_unlock(const std::string& name, double timeout_ms, int request,
                         PromiseId promise);
    void watch(const std::string& name, int watch);
    void unwatch(int watch) { watches_.erase(watch); }
    /// exclusion, whether commits are fenced, the tab's identifier.
    void capabilities(PromiseId promise) const;

    // Single flight. Resolves with an outcome ("s" or "f", text), or with the lock to run under
    // ("h", its number).
    void enter(const std::string& key, LockOptions options, OnceAge age, int request,
               PromiseId promise);
    void settle_once(const std::string& key, int held, bool succeeded, const std::string& text,
                     PromiseId promise);

    // Calls to a leader. `texts`: its name, the request, the key if there is one. Resolves with an
    // outcome ("s" or "f", text).
    void call_leader(const Texts& texts, double timeout_ms, int request, PromiseId promise);
    void begin_term(const std::string& name, int term, PromiseId promise);
    /// Resolves with a call's id and request, or with nothing: the term was handed over.
    void next_call(const std::string& name, int term, PromiseId promise);
    /// Resolves with the number of a fenced transaction, or with 0: it was taken back.
    void begin_answer(const std::string& name, const std::string& id, int term, PromiseId promise);
    /// Commits it. `texts`: name, id, answer, and what commit() writes.
    void answer(int transaction, Texts texts, bool succeeded, PromiseId promise);

    // A fenced transaction. Resolves with its number.
    void begin(int held, PromiseId promise);
    void get(int transaction, const std::string& store, const std::string& key, PromiseId promise);
    void list(int transaction, const std::string& store, const std::string& prefix,
              PromiseId promise);
    /// Writes what `texts` list (store, key, value or null for removal, …) and commits.
    void commit(int transaction, const Texts& texts, PromiseId promise);
    void end(int transaction) { transactions_.erase(transaction); }

  private:
    using Numbers = std::vector<int>;
    Task<Numbers> take(std::vector<std::string> names, LockOptions options, bool all);
    Task<Numbers> take_permit(std::string name, int permits, LockOptions options);
    void prepare(LockOptions& options, const Texts& texts, int within, int request);
    void settle_request(Task<Numbers> task, int request, PromiseId promise);
    int keep(Held held);
    Task<std::int64_t> open(int held);
    Task<void> write(int transaction, Texts texts);
    Task<FencedTransaction> written(int transaction, Texts texts);
    Task<std::int64_t> open_answer(std::string name, std::string id, std::shared_ptr<Grant> term);
    Task<void> give(int transaction, Texts texts, bool succeeded);
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
