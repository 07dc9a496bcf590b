// Outcome: what an awaited operation ended with.
#pragma once

#include <optional>
#include <utility>

#include "tabacus/common/failure.hpp"

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

}  // namespace tabacus
