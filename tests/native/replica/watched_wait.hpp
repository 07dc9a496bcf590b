// WatchedWait: whether and how a wait has ended, for tests that are not coroutines.
#pragma once

#include <optional>
#include <utility>

#include "tabacus/common/task.hpp"

namespace tabacus::test {

class WatchedWait {
  public:
    explicit WatchedWait(Async<Unit> wait) { scope_.spawn(watch(*this, std::move(wait))); }

    [[nodiscard]] bool completed() const { return ended_ && !failure_; }
    [[nodiscard]] bool pending() const { return !ended_; }
    [[nodiscard]] std::optional<ErrorCode> failure() const { return failure_; }

  private:
    static Task<void> watch(WatchedWait& self, Async<Unit> wait) {
        const auto outcome = co_await attempt(std::move(wait));
        self.ended_ = true;
        if (!outcome) self.failure_ = outcome.error().code();
    }

    bool ended_ = false;
    std::optional<ErrorCode> failure_;
    Scope scope_;
};

}  // namespace tabacus::test
