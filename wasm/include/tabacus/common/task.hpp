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

/// The value of an operation that has none.
struct Unit {
    friend bool operator==(Unit, Unit) = default;
};

/// The outcome of an awaited operation: a value or a failure.
template <typename T>
class [[nodiscard]] Outcome {
  public:
    Outcome(std::optional<T> value, Failure failure)
        : value_(std::move(value)), failure_(std::move(failure)) {}

    /// Whether there is a value.
    explicit operator bool() const noexcept { return value_.has_value(); }
    /// Requires that there is a value.
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

/// The part of a coroutine frame that does not depend on the type that the coroutine returns.
class Frame {
  public:
    [[gnu::noinline]] explicit Frame(std::coroutine_handle<> self) noexcept : self_(self) {}

    void resume() const { self_.resume(); }
    [[nodiscard]] bool done() const { return self_.done(); }
    [[nodiscard]] Failure& failure() noexcept { return failure_; }

    /// Runs this frame to its end or to its first await that suspends. Returns true if `parent` has
    /// to wait. `attempted`: whether the parent asks for the outcome; a failure does not end it
    /// then.
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

    /// Ends this frame and the frames that wait for it, up to one that asks for the outcome, which
    /// is resumed. Requires that this frame is suspended. A parent that does not wait yet is inside
    /// run_for(), which checks for the failure when it returns.
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
    /// Resumes the frame that waits for this one.
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
    Frame* waiter_ = nullptr;  // the parent, once it is suspended
    bool attempted_ = false;
    Failure failure_;
};

/// The part of an operation of the World that does not depend on the type of its value.
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

    /// Registers the frame that awaits the operation. Returns false if the operation is ready, so
    /// that the frame goes on at once.
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

/// The producing end of an Async. Complete it once, with complete() or fail(). A second completion
/// is ignored, because a platform may report both an abort and the error that caused it. Copies
/// complete the same Async.
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

/// The result of an operation of the World. It may be awaited once. If it is destroyed without
/// being awaited, the operation goes on.
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
    /// Withdraws from the operation, because a frame that is destroyed while it waits must not be
    /// resumed.
    ~Async() {
        if (operation_ && begun_) operation_->withdraw();
    }

    /// False, because begin() finds out whether the operation is ready. A check here would add code
    /// to every await.
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

/// What fail() returns. Awaiting it ends the coroutine.
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

/// Fails the coroutine that evaluates `co_await fail(…)`.
[[gnu::noinline]] inline Failing fail(const Error& error) { return Failing(failure_of(error)); }
[[gnu::noinline]] inline Failing fail(ErrorCode code, const char* message) {
    return fail(Error(code, message));
}

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

    /// Returns the coroutine's frame. Requires that the task has a coroutine.
    [[nodiscard]] detail::Frame& frame() const { return handle_.promise(); }
    /// Takes the outcome out of the task. Requires that the task has ended.
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
// attempt: awaits the outcome, whether it is a value or a failure.

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
            raise(handle.promise().failure());
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

// ---------------------------------------------------------------------------------------------
// Subscription: keeps a callback registered until it is destroyed.

class [[nodiscard]] Subscription {
  public:
    Subscription() = default;
    /// `cancel` is called once, by the destructor.
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
