// fail: how a coroutine fails (task.hpp).
#pragma once

#include <coroutine>
#include <utility>

#include "tabacus/common/error.hpp"
#include "tabacus/common/failure.hpp"
#include "tabacus/common/frame.hpp"

namespace tabacus {

/// What fail() returns. Awaiting it ends the coroutine.
class [[nodiscard]] Failing {
  public:
    explicit Failing(Failure failure) { failure_.put(std::move(failure)); }
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
        if (detail::failures_throw) return false;
        end(awaiting.promise());
        return true;
    }
    [[noreturn]] void await_resume() {
        if (detail::failures_throw) raise(failure_.take());
        __builtin_unreachable();  // a frame that failed is never resumed
    }

  private:
    [[gnu::noinline]] void end(detail::Frame& awaiting) noexcept { awaiting.fail(failure_.take()); }
    FailureInTransit failure_;
};

/// Fails the coroutine that evaluates `co_await fail(…)`.
[[gnu::noinline]] inline Failing fail(const Error& error) { return Failing(failure_of(error)); }
[[gnu::noinline]] inline Failing fail(ErrorCode code, const char* message) {
    return fail(Error(code, message));
}

}  // namespace tabacus
