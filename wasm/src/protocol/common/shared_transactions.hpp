// SharedTransactions: callers that need the same kind of transaction at the same time share one, as
// databases do for commits ("group commit", DeWitt et al., SIGMOD 1984). One is under way; calls that
// begin meanwhile share the next one. A call that is alone does not wait for others.
//
//   state of a transaction   meaning                           what ends the state
//   gathering                callers join it                   the one under way has ended
//   in use                   its callers read and write        the last of them is done
//   committing               nobody uses it                    its outcome, which all callers get
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

    /// Runs `body` in a transaction, and returns once it is done and, if it writes, committed. Fails
    /// as begin(), `body` and Transaction::commit() do. Bodies of one transaction interleave at
    /// their reads; those with equal keys never share one, as if each had its own. Requires that
    /// `body` awaits nothing but the transaction and what is ready in the same turn, and that a body
    /// that fails has written nothing that must not be kept: the other callers' transaction commits
    /// all the same.
    Task<void> run(std::string key, Body body);

  private:
    /// The most callers of one transaction: more would make a task that a user notices.
    static constexpr std::size_t users_max = 256;

    struct Batch : Counted {
        std::unique_ptr<Transaction> transaction;
        std::optional<Error> failure;
        std::vector<std::string> keys;  // of all callers
        int users = 0;                  // those that are not done
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
