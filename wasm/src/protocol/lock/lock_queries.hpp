// LockQueries: this tab's queries of the lock manager. A snapshot lists all locks of the origin, so
// it is costly, and callers share it. One query is under way at a time, and all calls that begin
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
        /// Returns the entries of the holders of one lock, by a binary search.
        [[nodiscard]] std::span<const LockInfo> holders_of(std::string_view name) const;

        LockSnapshot snapshot;  // `held` is sorted by name
        std::vector<std::string> probed;
        std::optional<Error> failure;
        bool known = false;
        WaitList end;
    };

    LockQueries(Locks& locks, Scope& scope) : locks_(locks), scope_(scope) {}

    /// Returns a snapshot that is taken after the call. If `probed` is not empty, it names the lock
    /// that is probed where the browser refuses a snapshot. Fails as Locks::query() does.
    Task<Shared<Answer>> query(std::string probed = {});

  private:
    Task<void> run();

    Locks& locks_;
    Scope& scope_;
    Shared<Answer> next_;
    bool running_ = false;
};

}  // namespace tabacus
