// Operation: the state that a Completer and its Async share (async.hpp).
//
//   state     meaning                              what ends the state
//   pending   it has no outcome                    complete(), fail(): ready
//   awaited   pending, and a frame is suspended    complete(), fail(): ready, and the frame goes on
//                                                  withdraw(): pending
//   ready     it has a value or a failure          -
#pragma once

#include <optional>
#include <utility>

#include "tabacus/common/failure.hpp"
#include "tabacus/common/frame.hpp"
#include "tabacus/common/shared.hpp"

namespace tabacus::detail {

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

}  // namespace tabacus::detail
