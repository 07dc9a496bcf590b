// The coroutines of protocols. A function of a protocol returns a Task; a call of the World returns
// an Async.
//
// A Task starts when it is awaited, and does not suspend at an await that is ready. In a real tab,
// where storage answers at once, a protocol over storage is therefore one plain call. A World that
// suspends (the laboratory, IndexedDB) completes an Async later, and the waiting protocol goes on
// inside complete().
//
// Destroying a Task destroys every frame below it, and a frame that is destroyed while it awaits an
// operation withdraws from that operation. A tab can therefore be killed at any await: no destroyed
// frame is resumed.
//
// FAILURE. If what a frame awaits fails, that frame ends, and so do the frames that await it, up to
// one that asks for the outcome with `co_await attempt(x)`. Where exceptions are on, the await
// throws, so that `catch` works, too. Where they are off (failure.hpp), or if
// TABACUS_UNWIND_BY_DESTRUCTION is defined, the failed frames are never resumed: attempt() destroys
// them, innermost first, which runs the same destructors. Code that must run both ways fails with
// `co_await fail(…)` and catches with attempt().
//
// A program is mostly awaits, hundreds of them. To keep it small, what each await calls is never
// inlined.
//
// There is no symmetric transfer: without WebAssembly's tail calls it would grow the stack with
// every await that is ready at once. A child that finishes inside the await returns to its parent
// instead, so that a loop of ready awaits runs in constant stack.
//
// This header includes all that a coroutine needs: fail.hpp, async.hpp, outcome.hpp and
// subscription.hpp.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <list>
#include <optional>
#include <type_traits>
#include <utility>

#include "tabacus/common/async.hpp"
#include "tabacus/common/fail.hpp"
#include "tabacus/common/failure.hpp"
#include "tabacus/common/frame.hpp"
#include "tabacus/common/function.hpp"
#include "tabacus/common/outcome.hpp"
#include "tabacus/common/subscription.hpp"

namespace tabacus {

// ---------------------------------------------------------------------------------------------
// Task<T>: owns a coroutine, which starts when the task is awaited.

template <typename T = void>
class [[nodiscard]] Task;

namespace detail {

template <typename T>
struct Promise : Frame {
    std::optional<T> value;
    Promise() noexcept : Frame(std::coroutine_handle<Promise>::from_promise(*this)) {}
    Task<T> get_return_object();
    void return_value(T result) { value = std::move(result); }
};

template <>
struct Promise<void> : Frame {
    std::optional<Unit> value;
    Promise() noexcept : Frame(std::coroutine_handle<Promise>::from_promise(*this)) {}
    Task<void> get_return_object();
    void return_void() { value.emplace(); }
};

}  // namespace detail

template <typename T>
class [[nodiscard]] Task {
  public:
    using promise_type = detail::Promise<T>;
    using Handle = std::coroutine_handle<promise_type>;

    Task() = default;
    explicit Task(Handle handle) : handle_(handle) {}
    Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Task& operator=(Task&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;
    [[gnu::noinline]] ~Task() {
        if (handle_) handle_.destroy();
    }

    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        return begin(parent.promise());
    }
    [[gnu::noinline]] T await_resume() {
        promise_type& promise = handle_.promise();
        if (detail::failures_throw && promise.failure()) raise(promise.failure().take());
        if constexpr (!std::is_void_v<T>) return std::move(*promise.value);
    }

    /// Returns the coroutine's frame. Requires that the task has a coroutine.
    [[nodiscard]] detail::Frame& frame() const { return handle_.promise(); }
    /// Takes the outcome out of the task. Requires that the task has ended.
    [[gnu::noinline]] auto outcome() {
        promise_type& promise = handle_.promise();
        return Outcome(std::move(promise.value), promise.failure().take());
    }

  private:
    friend class Scope;
    template <typename Awaitable>
    friend class detail::Attempt;

    [[gnu::noinline]] bool begin(detail::Frame& parent) { return frame().run_for(parent, false); }
    bool begin_attempt(detail::Frame& parent) { return frame().run_for(parent, true); }

    Handle handle_ = nullptr;
};

template <typename T>
Task<T> detail::Promise<T>::get_return_object() {
    return Task<T>(std::coroutine_handle<Promise>::from_promise(*this));
}
inline Task<void> detail::Promise<void>::get_return_object() {
    return Task<void>(std::coroutine_handle<Promise>::from_promise(*this));
}

// ---------------------------------------------------------------------------------------------
// attempt: awaits the outcome, whether it is a value or a failure.

namespace detail {

template <typename Awaitable>
class [[nodiscard]] Attempt {
  public:
    explicit Attempt(Awaitable& awaitable) : awaitable_(awaitable) {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        return awaitable_.begin_attempt(parent.promise());
    }
    auto await_resume() { return awaitable_.outcome(); }

  private:
    Awaitable& awaitable_;
};

}  // namespace detail

/// `co_await attempt(x)` returns the Outcome of a Task or an Async, and never fails. If a task
/// failed, its frames are destroyed with the temporary `x`, at the end of the expression.
template <typename T>
detail::Attempt<Task<T>> attempt(Task<T>&& task [[clang::lifetimebound]]) {
    return detail::Attempt<Task<T>>(task);
}
template <typename T>
detail::Attempt<Async<T>> attempt(Async<T>&& async [[clang::lifetimebound]]) {
    return detail::Attempt<Async<T>>(async);
}

// ---------------------------------------------------------------------------------------------
// Scope: owns running root tasks. Destroying it destroys every task that it runs.

class Scope {
  public:
    Scope() = default;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope(Scope&&) = delete;
    Scope& operator=(Scope&&) = delete;
    ~Scope() = default;

    /// Starts `task` at once. The task must not fail: it reports errors through callbacks or
    /// completers of its own. A failure that escapes it is thrown or terminates the program.
    void spawn(Task<void> task) {
        if (running_.size() >= reap_at_) {
            reap();
            reap_at_ = std::max(reap_at_first, 2 * running_.size());
        }
        const auto handle = task.handle_;
        running_.push_back(std::move(task));
        handle.resume();
        if (detail::failures_throw && handle.done() && handle.promise().failure()) {
            raise(handle.promise().failure().take());
        }
    }

    /// Whether every task has ended.
    [[nodiscard]] bool idle() {
        reap();
        return running_.empty();
    }

  private:
    // A later spawn() destroys the frames that have ended, because a frame cannot destroy itself
    // while it runs. It does so each time the number of frames has doubled, so that the cost of a
    // task does not grow with the number of tasks.
    static constexpr std::size_t reap_at_first = 16;
    void reap() {
        std::erase_if(running_, [](const Task<void>& task) { return task.handle_.done(); });
    }
    std::list<Task<void>> running_;
    std::size_t reap_at_ = reap_at_first;
};

namespace detail {

/// Waits for a task of any type, then calls `settle`, which takes its outcome.
inline Task<void> run(Frame& frame, Function<void()> settle) {
    struct End {
        Frame& ended;
        static bool await_ready() noexcept { return false; }
        bool await_suspend(Task<void>::Handle parent) const {
            return ended.run_for(parent.promise(), true);
        }
        static void await_resume() noexcept {}
    };
    co_await End{frame};
    settle();
}

}  // namespace detail

/// Runs `task` in `scope`. Calls `on_value` with the task's value, or `on_error` with its failure.
template <typename T, typename OnValue, typename OnError>
void run_in(Scope& scope, Task<T> task, OnValue on_value, OnError on_error) {
    detail::Frame& frame = task.frame();
    auto settle = [task = std::move(task), on_value = std::move(on_value),
                   on_error = std::move(on_error)]() mutable {
        auto outcome = task.outcome();
        task = Task<T>();  // destroys the task's frames before a handler runs
        if (!outcome) {
            on_error(outcome.failure());
        } else if constexpr (std::is_void_v<T>) {
            on_value();
        } else {
            on_value(std::move(outcome.value()));
        }
    };
    scope.spawn(detail::run(frame, std::move(settle)));
}

}  // namespace tabacus
