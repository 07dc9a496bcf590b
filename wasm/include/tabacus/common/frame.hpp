// Frame: how coroutines start, await each other, end and fail (task.hpp).
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "tabacus/common/failure.hpp"

namespace tabacus::detail {

#if defined(__cpp_exceptions) && !defined(TABACUS_UNWIND_BY_DESTRUCTION)
constexpr bool failures_throw = true;
#else
constexpr bool failures_throw = false;
#endif

/// The part of a coroutine frame that does not depend on the type that the coroutine returns.
class Frame {
  public:
    [[gnu::noinline]] explicit Frame(std::coroutine_handle<> self) noexcept : self_(self) {}

    void resume() const { self_.resume(); }
    [[nodiscard]] bool done() const { return self_.done(); }
    [[nodiscard]] FailureInTransit& failure() noexcept { return failure_; }

    /// Runs this frame to its end or to its first await that suspends. Returns true if `parent` has
    /// to wait. `attempted`: whether the parent asks for the outcome; a failure does not end it
    /// then.
    [[gnu::noinline]] bool run_for(Frame& parent, bool attempted) {
        parent_ = &parent;
        attempted_ = attempted;
        self_.resume();
        if (failure_ && !failures_throw) {
            if (!attempted) parent.fail(failure_.take());
            return !attempted;
        }
        if (self_.done()) return false;
        waiter_ = &parent;
        return true;
    }

    /// Ends this frame and the frames that wait for it, up to one that asks for the outcome, which
    /// is resumed. Requires that this frame is suspended. A parent that does not wait yet is inside
    /// run_for(), which checks for the failure when it returns.
    void fail(Failure failure) noexcept {
        if (!parent_) std::terminate();
        failure_.put(std::move(failure));
        if (!waiter_) return;
        if (attempted_) {
            waiter_->resume();
        } else {
            waiter_->fail(failure_.take());
        }
    }

    static std::suspend_always initial_suspend() noexcept { return {}; }

    struct Finish {
        static bool await_ready() noexcept { return false; }
        template <typename Promise>
        static void await_suspend(std::coroutine_handle<Promise> self) noexcept {
            self.promise().finish();
        }
        static void await_resume() noexcept {}
    };
    static Finish final_suspend() noexcept { return {}; }
    /// Resumes the frame that waits for this one.
    [[gnu::noinline]] void finish() const noexcept {
        if (waiter_) waiter_->resume();
    }

#ifdef __cpp_exceptions
    void unhandled_exception() {
        if (!failures_throw) throw;
        failure_.put(std::current_exception());
    }
#else
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
#endif

  private:
    std::coroutine_handle<> self_;
    Frame* parent_ = nullptr;
    Frame* waiter_ = nullptr;  // the parent, once it is suspended
    bool attempted_ = false;
    FailureInTransit failure_;
};

}  // namespace tabacus::detail
