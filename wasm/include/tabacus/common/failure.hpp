// Failure: the reason why a coroutine or an operation failed, while it is passed to the caller.
//
// Where C++ exceptions are on, a Failure is any exception. The program of a tab is compiled without
// exceptions, which makes it a fifth smaller: there a Failure is an Error, and the coroutines of
// task.hpp pass it on.
#pragma once

#include <cstdlib>
#include <exception>
#include <memory>
#include <utility>

#include "tabacus/common/error.hpp"

namespace tabacus {

#ifdef __cpp_exceptions

using Failure = std::exception_ptr;

template <typename Exception>
Failure failure_of(Exception exception) {
    return std::make_exception_ptr(std::move(exception));
}

/// Throws the failure. Where exceptions are off, raise() aborts the program.
[[noreturn]] inline void raise(const Failure& failure) { std::rethrow_exception(failure); }

/// Returns the failure's Error. Rethrows an exception of any other type, which is a defect.
inline Error error_of(const Failure& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return error;
    }
}

/// A failure on its way to the frame that takes it.
class FailureInTransit {
  public:
    void put(Failure failure) noexcept { failure_ = std::move(failure); }
    [[nodiscard]] Failure take() noexcept { return std::exchange(failure_, nullptr); }
    explicit operator bool() const noexcept { return failure_ != nullptr; }

  private:
    Failure failure_;
};

#else

using Failure = std::unique_ptr<const Error>;

inline Failure failure_of(Error error) { return std::make_unique<const Error>(std::move(error)); }

[[noreturn]] inline void raise(const Failure&) { std::abort(); }

inline const Error& error_of(const Failure& failure) { return *failure; }

/// A failure on its way to the frame that takes it. Whatever puts a failure calls the taker before it
/// does anything else. So this needs no destructor, which would be in each of hundreds of frames.
class FailureInTransit {
  public:
    FailureInTransit() = default;
    FailureInTransit(const FailureInTransit&) = delete;
    FailureInTransit& operator=(const FailureInTransit&) = delete;
    void put(Failure failure) noexcept { error_ = failure.release(); }
    [[nodiscard]] Failure take() noexcept { return Failure(std::exchange(error_, nullptr)); }
    explicit operator bool() const noexcept { return error_ != nullptr; }

  private:
    const Error* error_ = nullptr;
};

#endif

}  // namespace tabacus
