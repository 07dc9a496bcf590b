// Failure: why a coroutine or an operation failed, on its way to the caller.
//
// Where C++ exceptions are on it is any exception. The cores of a tab are compiled without them,
// which makes them a fifth smaller: there it is an Error, and task.hpp carries it.
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

[[noreturn]] inline void raise(const Failure& failure) { std::rethrow_exception(failure); }

/// Whatever is no Error is a defect, and goes on as the exception that it is.
inline Error error_of(const Failure& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const Error& error) {
        return error;
    }
}

#else

using Failure = std::unique_ptr<const Error>;

inline Failure failure_of(Error error) { return std::make_unique<const Error>(std::move(error)); }

[[noreturn]] inline void raise(const Failure&) { std::abort(); }

inline const Error& error_of(const Failure& failure) { return *failure; }

#endif

}  // namespace tabacus
