// LeaderCore: the calls to a leader, as JavaScript calls them. A term is identified by the number of
// the lock that the leader holds.
//
//   state of a call to this leader   transitions
//   waiting                          next(): taken
//   taken                            begin_answer(): being answered; or gone, if its caller has
//                                    taken it back
//   being answered                   answer(): answered, together with the leader's writes
//                                    TransactionsCore::end(): taken
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "browser/core/abortable_requests.hpp"
#include "browser/core/held_locks.hpp"
#include "browser/core/transactions_core.hpp"
#include "tabacus/lock/leader.hpp"

namespace tabacus::browser {

class LeaderCore {
  public:
    /// The arguments must outlive this.
    LeaderCore(World& world, LockTable& table, HeldLocks& held, TransactionsCore& transactions,
               AbortableRequests& requests)
        : leader_(world, table, notify),
          held_(held),
          transactions_(transactions),
          requests_(requests) {}

    void call(const std::string& name, const std::string& call, LeaderCallOptions options,
              int request, PromiseId promise);
    void begin_term(const std::string& name, int held, PromiseId promise);
    /// Resolves with nothing if the term was handed over.
    void next(const std::string& name, int held, PromiseId promise);
    /// Begins a fenced transaction that answers the call `id`. Resolves with its number, or with 0
    /// if the call was answered before or its caller has taken it back.
    void begin_answer(const std::string& name, const std::string& id, int held, PromiseId promise);
    /// Writes the answer and `writes` in that transaction, and commits it.
    void answer(const std::string& name, const std::string& id, int transaction,
                LeaderAnswer answer, std::vector<FencedWrite> writes, PromiseId promise);

  private:
    Task<std::int64_t> open_answer(std::string name, std::string id, std::shared_ptr<Grant> term);
    Task<void> give(std::string name, std::string id, int transaction, LeaderAnswer answer,
                    std::vector<FencedWrite> writes);

    Leader leader_;
    HeldLocks& held_;
    TransactionsCore& transactions_;
    AbortableRequests& requests_;
    Scope scope_;
};

}  // namespace tabacus::browser
