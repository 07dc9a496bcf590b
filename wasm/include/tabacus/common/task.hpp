// Coroutines for protocols: Task, what a protocol returns; Async, what the world returns.
//
// A Task starts when it is awaited and runs straight through whatever is ready: in a real tab,
// where storage answers at once, a protocol over storage is one plain call. A World that suspends
// (the laboratory, IndexedDB) completes an Async later, and the waiting protocol goes on inside
// complete().
//
// Destroying a Task destroys every frame below it, and an awaiting frame withdraws from what it
// awaited: a tab can be killed at any await without leaving a dangling resumption.
//
// FAILURE. What is awaited and fails ends the frame that awaits it, and the frames that await that,
// up to one that asks for the outcome: `co_await attempt(x)`. Where exceptions are on, the await
// throws, and catch is as good as attempt(). Where they are off (failure.hpp), or
// TABACUS_UNWIND_BY_DESTRUCTION is defined, the failed frames are never resumed: attempt() destroys
// them, innermost first, which runs the same destructors. Code that is to run both ways fails by
// `co_await fail(…)` and asks by attempt().
//
// Hundreds of awaits make most of the size of a program: what each of them calls is never inlined.
//
// No symmetric transfer: without WebAssembly's tail calls it would grow the stack with every await
// that is ready at once. A child that finishes inside the await returns to its parent by value
// instead; so loops of ready awaits run in constant stack.
#pragma once

#include <algorithm>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tabacus/common/failure.hpp"
#include "tabacus/common/function.hpp"
#include "tabacus/common/shared.hpp"

namespace tabacus {

struct Unit {
    friend bool operator==(Unit, Unit) = default;
};

/// What came of an awaited operation: its value, or why there is none.
template <typename T>
class [[nodiscard]] Outcome {
  public:
    Outcome(std::optional<T> value, Failure failure)
        : value_(std::move(value)), failure_(std::move(failure)) {}

    explicit operator bool() const noexcept { return value_.has_value(); }
    [[nodiscard]] T& value() { return *value_; }
    [[nodiscard]] const Failure& failure() const { return failure_; }
    /// Requires a failed result. Rethrows exceptions that are not `tabacus::Error`.
    [[nodiscard]] decltype(auto) error() const { return error_of(failure_); }

  private:
    std::optional<T> value_;
    Failure failure_;
};

namespace detail {

template <typename Awaitable>
class Attempt;

#if defined(__cpp_exceptions) && !defined(TABACUS_UNWIND_BY_DESTRUCTION)
constexpr bool failures_throw = true;
#else
constexpr bool failures_throw = false;
#endif

/// What all coroutine frames have in common, whatever they return.
class Frame {
  public:
    [[gnu::noinline]] explicit Frame(std::coroutine_handle<> self) noexcept : self_(self) {}

    void resume() const { self_.resume(); }
    [[nodiscard]] bool done() const { return self_.done(); }
    [[nodiscard]] Failure& failure() noexcept { return failure_; }

    /// Runs up to the end or the first real suspension; true when `parent` has to wait.
    /// `attempted`: the parent asks for the outcome, whichever it is.
    [[gnu::noinline]] bool run_for(Frame& parent, bool attempted) {
        parent_ = &parent;
        attempted_ = attempted;
        self_.resume();
        if (failure_ && !failures_throw) {
            if (!attempted) parent.fail(std::move(failure_));
            return !attempted;
        }
        if (self_.done()) return false;
        waiter_ = &parent;
        return true;
    }

    /// Ends this frame, which is suspended, and those that wait for it: only a frame that attempted
    /// is resumed. A parent that does not wait yet is running this frame, and checks it on return.
    void fail(Failure failure) noexcept {
        if (!parent_) std::terminate();
        failure_ = std::move(failure);
        if (!waiter_) return;
        if (attempted_) {
            waiter_->resume();
        } else {
            waiter_->fail(std::move(failure_));
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
    /// The frame that waits for this one is resumed inside this call.
    [[gnu::noinline]] void finish() const noexcept {
        if (waiter_) waiter_->resume();
    }

#ifdef __cpp_exceptions
    void unhandled_exception() {
        if (!failures_throw) throw;
        failure_ = std::current_exception();
    }
#else
    [[noreturn]] static void unhandled_exception() noexcept { std::terminate(); }
#endif

  private:
    std::coroutine_handle<> self_;
    Frame* parent_ = nullptr;
    Frame* waiter_ = nullptr;  // the parent, once it waits
    bool attempted_ = false;
    Failure failure_;
};

/// What all operations of the world have in common.
class Operation : public Counted {
  public:
    [[nodiscard]] bool ready() const noexcept { return ready_; }
    [[nodiscard]] bool failed() const noexcept { return failure_ != nullptr; }
    [[nodiscard]] Failure& failure() noexcept { return failure_; }
    [[nodiscard]] bool awaited() const noexcept { return waiter_ != nullptr; }

    void fail(Failure failure) {
        if (ready_) return;
        failure_ = std::move(failure);
        settle();
    }

    /// False when there is nothing to wait for.
    bool await_by(Frame& frame, bool attempted) noexcept {
        if (ready_) {
            if (!failure_ || attempted || failures_throw) return false;
            frame.fail(std::move(failure_));
            return true;
        }
        waiter_ = &frame;
        attempted_ = attempted;
        return true;
    }
    void withdraw() noexcept { waiter_ = nullptr; }

  protected:
    void settle() {
        ready_ = true;
        Frame* const waiter = std::exchange(waiter_, nullptr);
        if (!waiter) return;
        if (failure_ && !attempted_ && !failures_throw) {
            waiter->fail(std::move(failure_));
        } else {
            waiter->resume();
        }
    }

  private:
    bool ready_ = false;
    bool attempted_ = false;
    Frame* waiter_ = nullptr;
    Failure failure_;
};

template <typename T>
class OperationOf : public Operation {
  public:
    void complete(T value) {
        if (ready()) return;
        value_ = std::move(value);
        settle();
    }
    std::optional<T>& value() { return value_; }

  private:
    std::optional<T> value_;
};

}  // namespace detail

// ---------------------------------------------------------------------------------------------
// Async<T>: the result of a World call, ready at once or completed later through its Completer.

template <typename T>
class Async;

/// The producing end of an Async. Complete it once; a second completion is ignored, since a
/// platform may report both an abort and the error behind it. Copies complete the same Async.
template <typename T>
class Completer {
  public:
    Completer() : operation_(std::make_unique<detail::OperationOf<T>>()) {}

    void complete(T value) const {
        const auto keep_alive = operation_;
        keep_alive->complete(std::move(value));
    }
    void fail(Failure failure) const {
        const auto keep_alive = operation_;
        keep_alive->fail(std::move(failure));
    }
    [[nodiscard]] bool completed() const noexcept { return operation_->ready(); }
    /// True while a coroutine is suspended on the Async.
    [[nodiscard]] bool awaited() const noexcept { return operation_->awaited(); }
    [[nodiscard]] Async<T> async() const { return Async<T>(operation_); }

  private:
    Shared<detail::OperationOf<T>> operation_;
};

/// Await it once. Dropping it unawaited is allowed; the operation behind it goes on.
template <typename T = Unit>
class [[nodiscard]] Async {
  public:
    explicit Async(Shared<detail::OperationOf<T>> operation) : operation_(std::move(operation)) {}
    Async(T value) : Async() {  // NOLINT(google-explicit-constructor)
        operation_->complete(std::move(value));
    }
    static Async failed(Failure failure) {
        Async result;
        result.operation_->fail(std::move(failure));
        return result;
    }
    template <typename Exception>
        requires(!std::same_as<Exception, Failure>)
    static Async failed(Exception exception) {
        return failed(failure_of(std::move(exception)));
    }

    Async(Async&&) noexcept = default;
    Async& operator=(Async&&) noexcept = default;
    Async(const Async&) = delete;
    Async& operator=(const Async&) = delete;
    /// A frame that dies while it waits must not be resumed.
    ~Async() {
        if (operation_ && begun_) operation_->withdraw();
    }

    /// begin() finds out whether the operation is ready: to ask here too would make awaits longer.
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
        return begin(awaiting.promise(), false);
    }
    [[gnu::noinline]] T await_resume() {
        if (detail::failures_throw && operation_->failed()) raise(operation_->failure());
        return std::move(*operation_->value());
    }

  private:
    template <typename Awaitable>
    friend class detail::Attempt;

    Async() : operation_(std::make_unique<detail::OperationOf<T>>()) {}

    bool begin(detail::Frame& awaiting, bool attempted) noexcept {
        begun_ = true;
        return operation_->await_by(awaiting, attempted);
    }
    [[gnu::noinline]] Outcome<T> outcome() {
        return {std::move(operation_->value()), std::move(operation_->failure())};
    }

    Shared<detail::OperationOf<T>> operation_;
    bool begun_ = false;
};

/// What fail() returns, to be awaited.
class [[nodiscard]] Failing {
  public:
    explicit Failing(Failure failure) : failure_(std::move(failure)) {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
        if (detail::failures_throw) return false;
        end(awaiting.promise());
        return true;
    }
    [[noreturn]] void await_resume() const {
        if (detail::failures_throw) raise(failure_);
        __builtin_unreachable();  // a frame that failed is never resumed
    }

  private:
    [[gnu::noinline]] void end(detail::Frame& awaiting) noexcept {
        awaiting.fail(std::move(failure_));
    }
    Failure failure_;
};

/// `co_await fail(…)` ends the coroutine that awaits it.
[[gnu::noinline]] inline Failing fail(const Error& error) { return Failing(failure_of(error)); }
[[gnu::noinline]] inline Failing fail(ErrorCode code, const char* message) {
    return fail(Error(code, message));
}

// ---------------------------------------------------------------------------------------------
// Task<T>: a coroutine that starts when awaited and belongs to whoever holds it.

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
    void return_void() { value = Unit{}; }
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
        return begin(parent.promise(), false);
    }
    [[gnu::noinline]] T await_resume() {
        promise_type& promise = handle_.promise();
        if (detail::failures_throw && promise.failure()) raise(promise.failure());
        if constexpr (!std::is_void_v<T>) return std::move(*promise.value);
    }

    /// Requires that the task is not a default-constructed one.
    [[nodiscard]] detail::Frame& frame() const { return handle_.promise(); }
    /// Requires that the task has ended.
    [[gnu::noinline]] auto outcome() {
        promise_type& promise = handle_.promise();
        return Outcome(std::move(promise.value), std::move(promise.failure()));
    }

  private:
    friend class Scope;
    template <typename Awaitable>
    friend class detail::Attempt;

    [[gnu::noinline]] bool begin(detail::Frame& parent, bool attempted) {
        return frame().run_for(parent, attempted);
    }

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
// attempt: awaits the outcome, be it a value or a failure.

namespace detail {

template <typename Awaitable>
class [[nodiscard]] Attempt {
  public:
    explicit Attempt(Awaitable& awaitable) : awaitable_(awaitable) {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        return awaitable_.begin(parent.promise(), true);
    }
    auto await_resume() { return awaitable_.outcome(); }

  private:
    Awaitable& awaitable_;
};

}  // namespace detail

/// `co_await attempt(x)` is the Outcome of a Task or an Async, and never fails. The frames of a
/// failed task are destroyed with `x`, which is a temporary, at the end of the expression.
template <typename T>
detail::Attempt<Task<T>> attempt(Task<T>&& task [[clang::lifetimebound]]) {
    return detail::Attempt<Task<T>>(task);
}
template <typename T>
detail::Attempt<Async<T>> attempt(Async<T>&& async [[clang::lifetimebound]]) {
    return detail::Attempt<Async<T>>(async);
}

// ---------------------------------------------------------------------------------------------
// Scope: owns running root tasks. Its destruction is the death of everything it runs.

class Scope {
  public:
    Scope() = default;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope(Scope&&) = delete;
    Scope& operator=(Scope&&) = delete;
    ~Scope() = default;

    /// Starts `task` at once. A failure that escapes it is a defect and terminates: a root task
    /// reports through callbacks or completers of its own.
    void spawn(Task<void> task) {
        if (running_.size() >= reap_at_) {
            reap();
            reap_at_ = std::max(reap_at_first, 2 * running_.size());
        }
        const auto handle = task.handle_;
        running_.push_back(std::move(task));
        handle.resume();
        if (detail::failures_throw && handle.done() && handle.promise().failure()) {
            raise(handle.promise().failure());
        }
    }

    /// True when nothing runs any more.
    [[nodiscard]] bool idle() {
        reap();
        return running_.empty();
    }

  private:
    /// Finished frames are freed at some later spawn, never from inside themselves; when they may
    /// be half of all, so that many tasks cost no more each than few.
    static constexpr std::size_t reap_at_first = 16;
    void reap() {
        std::erase_if(running_, [](const Task<void>& task) { return task.handle_.done(); });
    }
    std::list<Task<void>> running_;
    std::size_t reap_at_ = reap_at_first;
};

namespace detail {

/// Waits for a task of any type, whose outcome `settle` takes.
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

/// Runs `task` in `scope` and hands its value or its failure to one of two functions.
template <typename T, typename OnValue, typename OnError>
void run_in(Scope& scope, Task<T> task, OnValue on_value, OnError on_error) {
    detail::Frame& frame = task.frame();
    auto settle = [task = std::move(task), on_value = std::move(on_value),
                   on_error = std::move(on_error)]() mutable {
        auto outcome = task.outcome();
        task = Task<T>();  // its frames end before a handler runs
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

// ---------------------------------------------------------------------------------------------
// Subscription: a callback stays registered while this lives.

class [[nodiscard]] Subscription {
  public:
    Subscription() = default;
    /// `cancel` is called once, when this ends.
    explicit Subscription(Function<void()> cancel) : cancel_(std::move(cancel)) {}
    Subscription(Subscription&&) noexcept = default;
    Subscription& operator=(Subscription other) noexcept {
        std::swap(cancel_, other.cancel_);
        return *this;
    }
    Subscription(const Subscription&) = delete;
    ~Subscription() {
        if (cancel_) cancel_();
    }

  private:
    Function<void()> cancel_;
};

}  // namespace tabacus
