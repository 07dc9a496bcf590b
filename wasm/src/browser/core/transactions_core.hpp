// TransactionsCore: the fenced transactions, as JavaScript calls them. JavaScript identifies each by a
// number, which is never used again.
//
//   state   transitions
//   open    get(), list(): open
//           commit(), written(): ended, and the writes are made
//           end(): ended, and the transaction is aborted
//   ended   end() does nothing; all other calls fail with closed
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "browser/core/counter_core.hpp"
#include "browser/core/held_locks.hpp"

namespace tabacus::browser {

class TransactionsCore {
  public:
    /// `held` must outlive this.
    explicit TransactionsCore(HeldLocks& held) : held_(held) {}

    /// Begins one under the fence of a held lock. Resolves with its number.
    void begin(int held, PromiseId promise) { settle(scope_, open(held), promise); }
    void get(int transaction, const std::string& store, const std::string& key, PromiseId promise);
    void list(int transaction, const std::string& store, const std::string& prefix,
              PromiseId promise);
    void commit(int transaction, std::vector<FencedWrite> writes, PromiseId promise) {
        settle(scope_, write(transaction, std::move(writes)), promise);
    }
    void end(int transaction) { transactions_.erase(transaction); }

    // The following are for a core that commits a transaction itself.

    /// Adds a transaction and returns its number.
    int keep(FencedTransaction transaction);
    /// Makes the writes in the transaction, and returns it. Fails with closed if it has ended.
    Task<FencedTransaction> written(int transaction, std::vector<FencedWrite> writes);

  private:
    Task<std::int64_t> open(int held);
    Task<void> write(int transaction, std::vector<FencedWrite> writes);

    HeldLocks& held_;
    std::map<int, std::shared_ptr<FencedTransaction>> transactions_;
    int last_ = 0;
    Scope scope_;
};

}  // namespace tabacus::browser
