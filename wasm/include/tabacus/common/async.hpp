// Async: the result of a call of the World, ready at once or completed later through a Completer.
#pragma once

#include <concepts>
#include <coroutine>
#include <memory>
#include <utility>

#include "tabacus/common/frame.hpp"
#include "tabacus/common/operation.hpp"
#include "tabacus/common/outcome.hpp"
#include "tabacus/common/shared.hpp"

namespace tabacus {

namespace detail {

template <typename Awaitable>
class Attempt;

}  // namespace detail

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
    /// Whether a coroutine is suspended on the Async.
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
        return begin(awaiting.promise());
    }
    [[gnu::noinline]] T await_resume() {
        if (detail::failures_throw && operation_->failed()) raise(operation_->failure());
        return std::move(*operation_->value());
    }

  private:
    template <typename Awaitable>
    friend class detail::Attempt;

    Async() : operation_(std::make_unique<detail::OperationOf<T>>()) {}

    bool begin(detail::Frame& awaiting) noexcept {
        begun_ = true;
        return operation_->await_by(awaiting, false);
    }
    bool begin_attempt(detail::Frame& awaiting) noexcept {
        begun_ = true;
        return operation_->await_by(awaiting, true);
    }
    [[gnu::noinline]] Outcome<T> outcome() {
        return {std::move(operation_->value()), std::move(operation_->failure())};
    }

    Shared<detail::OperationOf<T>> operation_;
    bool begun_ = false;
};

}  // namespace tabacus
