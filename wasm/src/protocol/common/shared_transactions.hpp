// SharedTransactions: lets callers that need the same kind of transaction at the same time share
// one, as databases do for commits ("group commit", DeWitt et al., SIGMOD 1984). One transaction is
// under way at a time, and all calls that begin meanwhile share the next one. If none is under way,
// a call begins its transaction at once.
//
//   state of a transaction   meaning                           what ends the state
//   gathering                callers join it                   the one under way has ended
//   in use                   its callers read and write        the last of them is done
//   committing               its callers are done              its outcome, which all callers get
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tabacus/common/function.hpp"
#include "tabacus/common/shared.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"
#include "wait_list.hpp"

namespace tabacus {

class SharedTransactions {
  public:
    using Begin = Function<Async<std::unique_ptr<Transaction>>()>;
    using Body = Function<Task<void>(Transaction&)>;

    /// `begin` begins a transaction of that access. Callers run in `scope`, or in a scope that ends
    /// with it.
    SharedTransactions(Scope& scope, Access access, Begin begin)
        : scope_(scope), access_(access), begin_(std::move(begin)) {}

    /// Runs `body` in a transaction. Returns once `body` has ended and, if the transaction writes,
    /// it is committed. Fails as begin(), `body` and Transaction::commit() do.
    ///
    /// Bodies of one transaction interleave at their reads. Two bodies with equal keys never share
    /// a transaction. Requires that `body` awaits nothing but the transaction and what is ready in
    /// the same turn. If a body fails, the transaction commits what the other bodies wrote, and
    /// also what the failed body had written; that must be harmless.
    Task<void> run(std::string key, Body body);

  private:
    /// The most callers of one transaction: more would make a task that a user notices.
    static constexpr std::size_t users_max = 256;

    struct Batch : Counted {
        std::unique_ptr<Transaction> transaction;
        std::optional<Error> failure;
        std::vector<std::string> keys;  // of all callers
        int users = 0;                  // the number of callers that are not done
        bool ended = false;
        WaitList begin;
        WaitList release;
        WaitList end;
    };

    Task<void> loop();

    Scope& scope_;
    Access access_;
    Begin begin_;
    std::list<Shared<Batch>> gathering_;
    bool running_ = false;
};

}  // namespace tabacus
