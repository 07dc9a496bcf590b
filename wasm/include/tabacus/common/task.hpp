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
    explicit Frame(std::coroutine_handle<> self) noexcept : self_(self) {}

    void resume() const { self_.resume(); }
    [[nodiscard]] bool done() const { return self_.done(); }
    [[nodiscard]] Failure& failure() noexcept { return failure_; }

    /// Runs up to the end or the first real suspension; true when `parent` has to wait.
    /// `attempted`: the parent asks for the outcome, whichever it is.
    bool run_for(Frame& parent, bool attempted) {
        parent_ = &parent;
        attempted_ = attempted;
        self_.resume();
        if (failure_ && !failures_throw) {
            if (!attempted) parent.fail(std::move(failure_));
            return !attempted;
        }
        if (self_.done()) return false;
        parent_waits_ = true;
        return true;
    }

    /// Ends this frame, which is suspended, and those that wait for it: only a frame that attempted
    /// is resumed. A parent that does not wait yet is running this frame, and checks it on return.
    void fail(Failure failure) noexcept {
        if (!parent_) std::terminate();
        failure_ = std::move(failure);
        if (!parent_waits_) return;
        if (attempted_) {
            parent_->resume();
        } else {
            parent_->fail(std::move(failure_));
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
        if (parent_waits_) parent_->resume();
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
    bool parent_waits_ = false;
    bool attempted_ = false;
    Failure failure_;
};

/// What all operations of the world have in common. Counts those who hold it.
class Operation {
  public:
    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    Operation(Operation&&) = delete;
    Operation& operator=(Operation&&) = delete;
    virtual ~Operation() = default;

    [[nodiscard]] bool ready() const noexcept { return ready_; }
    [[nodiscard]] bool failed() const noexcept { return failure_ != nullptr; }
    [[nodiscard, gnu::noinline]] bool succeeded() const noexcept { return ready_ && !failure_; }
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
            if (attempted || failures_throw) return false;
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
    friend class OperationHolder;
    int holders_ = 0;
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

/// One of those who hold an operation: the last destroys it. A shared pointer for one thread, whose
/// code is the same for every type of result.
class OperationHolder {
  public:
    explicit OperationHolder(std::unique_ptr<Operation> operation) noexcept
        : operation_(operation.release()) {
        operation_->holders_ = 1;
    }
    OperationHolder(const OperationHolder& other) noexcept : operation_(other.operation_) {
        ++operation_->holders_;
    }
    OperationHolder(OperationHolder&& other) noexcept
        : operation_(std::exchange(other.operation_, nullptr)) {}
    OperationHolder& operator=(OperationHolder other) noexcept {
        std::swap(operation_, other.operation_);
        return *this;
    }
    ~OperationHolder() {
        if (!operation_ || --operation_->holders_ > 0) return;
        const std::unique_ptr<Operation> last(operation_);
    }
    Operation* operator->() const noexcept { return operation_; }
    [[nodiscard]] Operation& operation() const noexcept { return *operation_; }
    explicit operator bool() const noexcept { return operation_ != nullptr; }
    template <typename T>
    [[nodiscard]] OperationOf<T>& of() const noexcept {
        return static_cast<OperationOf<T>&>(*operation_);
    }

  private:
    Operation* operation_;
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
        keep_alive.template of<T>().complete(std::move(value));
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
    detail::OperationHolder operation_;
};

/// Await it once. Dropping it unawaited is allowed; the operation behind it goes on.
template <typename T = Unit>
class [[nodiscard]] Async {
  public:
    /// The result of `operation`, which is an OperationOf<T>.
    explicit Async(detail::OperationHolder operation) : operation_(std::move(operation)) {}
    Async(T value) : Async() {  // NOLINT(google-explicit-constructor)
        operation_.of<T>().complete(std::move(value));
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

    [[nodiscard]] bool await_ready() const noexcept { return operation_->succeeded(); }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
        return begin(awaiting.promise(), false);
    }
    T await_resume() {
        if (detail::failures_throw && operation_->failed()) raise(operation_->failure());
        return std::move(*operation_.of<T>().value());
    }

  private:
    template <typename Awaitable>
    friend class detail::Attempt;

    Async() : operation_(std::make_unique<detail::OperationOf<T>>()) {}

    bool begin(detail::Frame& awaiting, bool attempted) noexcept {
        begun_ = true;
        return operation_->await_by(awaiting, attempted);
    }
    Outcome<T> outcome() {
        return {std::move(operation_.of<T>().value()), std::move(operation_->failure())};
    }

    detail::OperationHolder operation_;
    bool begun_ = false;
};

/// A failure to await: `co_await fail(…)` ends the coroutine that awaits it.
inline Async<Unit> fail(Error error) { return Async<Unit>::failed(std::move(error)); }
inline Async<Unit> fail(ErrorCode code, const char* message) { return fail(Error(code, message)); }

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
    ~Task() {
        if (handle_) handle_.destroy();
    }

    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        return begin(parent.promise(), false);
    }
    T await_resume() {
        promise_type& promise = handle_.promise();
        if (detail::failures_throw && promise.failure()) raise(promise.failure());
        if constexpr (!std::is_void_v<T>) return std::move(*promise.value);
    }

  private:
    friend class Scope;
    template <typename Awaitable>
    friend class detail::Attempt;

    bool begin(detail::Frame& parent, bool attempted) {
        return handle_.promise().run_for(parent, attempted);
    }
    auto outcome() {
        promise_type& promise = handle_.promise();
        return Outcome(std::move(promise.value), std::move(promise.failure()));
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
    explicit Attempt(Awaitable awaitable) : awaitable_(std::move(awaitable)) {}
    [[nodiscard]] static bool await_ready() noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
        return awaitable_.begin(parent.promise(), true);
    }
    auto await_resume() { return awaitable_.outcome(); }

  private:
    Awaitable awaitable_;
};

}  // namespace detail

/// `co_await attempt(x)` is the Outcome of a Task or an Async, and never fails. The frames of a
/// failed task are destroyed at the end of the expression.
template <typename T>
detail::Attempt<Task<T>> attempt(Task<T> task) {
    return detail::Attempt<Task<T>>(std::move(task));
}
template <typename T>
detail::Attempt<Async<T>> attempt(Async<T> async) {
    return detail::Attempt<Async<T>>(std::move(async));
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

/// Runs `task` in `scope` and hands its value or its failure to one of two functions.
template <typename T, typename OnValue, typename OnError>
void run_in(Scope& scope, Task<T> task, OnValue on_value, OnError on_error) {
    scope.spawn([](Task<T> work, OnValue value_handler, OnError error_handler) -> Task<void> {
        auto outcome = co_await attempt(std::move(work));
        if (!outcome) {
            error_handler(outcome.failure());
        } else if constexpr (std::is_void_v<T>) {
            value_handler();
        } else {
            value_handler(std::move(outcome.value()));
        }
    }(std::move(task), std::move(on_value), std::move(on_error)));
}

// ---------------------------------------------------------------------------------------------
// Subscription: a callback stays registered while this lives.

class [[nodiscard]] Subscription {
  public:
    Subscription() = default;
    /// `cancel` is called once, when this ends.
    template <std::invocable Cancel>
    explicit Subscription(Cancel cancel)
        : registration_(std::make_unique<Registered<Cancel>>(std::move(cancel))) {}

  private:
    struct Registration {
        Registration() = default;
        Registration(const Registration&) = delete;
        Registration& operator=(const Registration&) = delete;
        Registration(Registration&&) = delete;
        Registration& operator=(Registration&&) = delete;
        virtual ~Registration() = default;
    };
    template <typename Cancel>
    struct Registered final : Registration {
        explicit Registered(Cancel how) : cancel(std::move(how)) {}
        ~Registered() override { cancel(); }
        Cancel cancel;
    };
    std::unique_ptr<Registration> registration_;
};

}  // namespace tabacus
