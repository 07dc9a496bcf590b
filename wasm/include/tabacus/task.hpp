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
// No symmetric transfer: without WebAssembly's tail calls it would grow the stack with every await
// that is ready at once. A child that finishes inside the await returns to its parent by value
// instead; so loops of ready awaits run in constant stack.
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace tabacus {

struct Unit {
    friend bool operator==(Unit, Unit) = default;
};

namespace detail {

/// The outcome of a coroutine or operation: nothing yet, a value, or an exception.
template <typename T>
class Outcome {
  public:
    void set_value(T value) { slot_.template emplace<1>(std::move(value)); }
    void set_error(std::exception_ptr error) { slot_.template emplace<2>(std::move(error)); }
    [[nodiscard]] bool ready() const noexcept { return slot_.index() != 0; }
    T take() {
        if (slot_.index() == 2) std::rethrow_exception(std::get<2>(slot_));
        return std::move(std::get<1>(slot_));
    }

  private:
    std::variant<std::monostate, T, std::exception_ptr> slot_;
};

template <typename T>
struct VoidToUnit {
    using type = T;
};
template <>
struct VoidToUnit<void> {
    using type = Unit;
};
template <typename T>
using Stored = typename VoidToUnit<T>::type;

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
    Completer() : state_(std::make_shared<State>()) {}

    void complete(T value) const {
        if (state_->outcome.ready()) return;
        state_->outcome.set_value(std::move(value));
        resume();
    }
    void fail(std::exception_ptr error) const {
        if (state_->outcome.ready()) return;
        state_->outcome.set_error(std::move(error));
        resume();
    }
    [[nodiscard]] bool completed() const noexcept { return state_->outcome.ready(); }
    /// True while a coroutine is suspended on the Async.
    [[nodiscard]] bool awaited() const noexcept { return static_cast<bool>(state_->waiter); }
    [[nodiscard]] Async<T> async() const { return Async<T>(state_); }

  private:
    friend class Async<T>;
    struct State {
        detail::Outcome<T> outcome;
        std::coroutine_handle<> waiter;
    };
    void resume() const {
        const auto keep_alive = state_;
        if (auto waiter = std::exchange(keep_alive->waiter, nullptr)) waiter.resume();
    }
    std::shared_ptr<State> state_;
};

/// Await it once. Dropping it unawaited is allowed; the operation behind it goes on.
template <typename T = Unit>
class [[nodiscard]] Async {
  public:
    Async(T value) { ready_.set_value(std::move(value)); }  // NOLINT(google-explicit-constructor)
    static Async failed(std::exception_ptr error) {
        Async result;
        result.ready_.set_error(std::move(error));
        return result;
    }
    template <typename Exception>
    static Async failed(Exception error) {
        return failed(std::make_exception_ptr(std::move(error)));
    }

    Async(Async&&) noexcept = default;
    Async& operator=(Async&&) noexcept = default;
    Async(const Async&) = delete;
    Async& operator=(const Async&) = delete;
    /// A frame that dies while it waits must not be resumed.
    ~Async() {
        if (state_ && waiting_) state_->waiter = nullptr;
    }

    [[nodiscard]] bool await_ready() const noexcept { return !state_ || state_->outcome.ready(); }
    void await_suspend(std::coroutine_handle<> waiter) noexcept {
        state_->waiter = waiter;
        waiting_ = true;
    }
    T await_resume() {
        waiting_ = false;
        return state_ ? state_->outcome.take() : ready_.take();
    }

  private:
    friend class Completer<T>;
    using State = typename Completer<T>::State;
    Async() = default;
    explicit Async(std::shared_ptr<State> state) : state_(std::move(state)) {}

    detail::Outcome<T> ready_;
    std::shared_ptr<State> state_;
    bool waiting_ = false;
};

// ---------------------------------------------------------------------------------------------
// Task<T>: a coroutine that starts when awaited and belongs to whoever holds it.

template <typename T = void>
class [[nodiscard]] Task;

namespace detail {

struct PromiseBase {
    std::coroutine_handle<> parent;
    bool parent_suspended = false;

    static std::suspend_always initial_suspend() noexcept { return {}; }

    struct Finish {
        static bool await_ready() noexcept { return false; }
        template <typename Promise>
        static void await_suspend(std::coroutine_handle<Promise> self) noexcept {
            PromiseBase& promise = self.promise();
            if (promise.parent_suspended) promise.parent.resume();
        }
        static void await_resume() noexcept {}
    };
    static Finish final_suspend() noexcept { return {}; }
};

template <typename T>
struct Promise : PromiseBase {
    Outcome<T> outcome;
    Task<T> get_return_object();
    void return_value(T value) { outcome.set_value(std::move(value)); }
    void unhandled_exception() noexcept { outcome.set_error(std::current_exception()); }
};

template <>
struct Promise<void> : PromiseBase {
    Outcome<Unit> outcome;
    Task<void> get_return_object();
    void return_void() { outcome.set_value({}); }
    void unhandled_exception() noexcept { outcome.set_error(std::current_exception()); }
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
    /// Runs the child up to its first real suspension; false when it finished, so that the parent
    /// goes on in its own frame.
    bool await_suspend(std::coroutine_handle<> parent) {
        promise_type& promise = handle_.promise();
        promise.parent = parent;
        handle_.resume();
        if (handle_.done()) return false;
        promise.parent_suspended = true;
        return true;
    }
    T await_resume() {
        if constexpr (std::is_void_v<T>) {
            handle_.promise().outcome.take();
        } else {
            return handle_.promise().outcome.take();
        }
    }

  private:
    friend class Scope;
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
// Scope: owns running root tasks. Its destruction is the death of everything it runs.

class Scope {
  public:
    Scope() = default;
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    Scope(Scope&&) = delete;
    Scope& operator=(Scope&&) = delete;
    ~Scope() = default;

    /// Starts `task` at once. An exception that escapes it is a defect and terminates: a root task
    /// reports through callbacks or completers of its own.
    void spawn(Task<void> task) {
        if (running_.size() >= reap_at_) {
            reap();
            reap_at_ = std::max(reap_at_first, 2 * running_.size());
        }
        const auto handle = task.handle_;
        running_.push_back(std::move(task));
        handle.resume();
        if (handle.done()) handle.promise().outcome.take();
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
    std::vector<Task<void>> running_;
    std::size_t reap_at_ = reap_at_first;
};

/// Runs `task` in `scope` and hands its value or its exception to one of two functions.
template <typename T, typename OnValue, typename OnError>
void run_in(Scope& scope, Task<T> task, OnValue on_value, OnError on_error) {
    scope.spawn([](Task<T> work, OnValue value_handler, OnError error_handler) -> Task<void> {
        std::exception_ptr error;
        try {
            if constexpr (std::is_void_v<T>) {
                co_await work;
                value_handler();
            } else {
                value_handler(co_await work);
            }
        } catch (...) {
            error = std::current_exception();
        }
        if (error) error_handler(error);
    }(std::move(task), std::move(on_value), std::move(on_error)));
}

// ---------------------------------------------------------------------------------------------
// Subscription: a callback stays registered while this lives.

class [[nodiscard]] Subscription {
  public:
    Subscription() = default;
    explicit Subscription(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
    Subscription(Subscription&& other) noexcept : cancel_(std::exchange(other.cancel_, nullptr)) {}
    Subscription& operator=(Subscription&& other) noexcept {
        std::swap(cancel_, other.cancel_);
        return *this;
    }
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;
    ~Subscription() {
        if (cancel_) cancel_();
    }

  private:
    std::function<void()> cancel_;
};

}  // namespace tabacus
