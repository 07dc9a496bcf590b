// LockQueries: the queries of the lock manager by this tab. A snapshot holds all locks of the origin,
// so callers that ask at the same time share one: one query is under way, and calls that begin
// meanwhile share the next one.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/common/wait_list.hpp"
#include "tabacus/common/shared.hpp"
#include "tabacus/common/task.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class LockQueries {
  public:
    struct Answer : Counted {
        /// Returns the entries of the holders of one lock, in time that does not grow with the other
        /// locks.
        [[nodiscard]] std::span<const LockInfo> holders_of(std::string_view name) const;

        LockSnapshot snapshot;  // what is held is sorted by name
        std::vector<std::string> probed;
        std::optional<Error> failure;
        bool known = false;
        WaitList end;
    };

    LockQueries(Locks& locks, Scope& scope) : locks_(locks), scope_(scope) {}

    /// Returns a snapshot that is taken after the call. Where the browser refuses one, the lock `probed`
    /// is probed, if it is named. Fails as Locks::query() does.
    Task<Shared<Answer>> query(std::string probed = {});

  private:
    Task<void> run();

    Locks& locks_;
    Scope& scope_;
    Shared<Answer> next_;
    bool running_ = false;
};

}  // namespace tabacus
