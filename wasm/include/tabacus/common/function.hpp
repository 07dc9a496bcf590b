// Function: holds a callable of any type, as std::function does, in a third of the code. Copies
// share the callable, so it need not be copyable.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "tabacus/common/shared.hpp"

namespace tabacus {

template <typename Signature>
class Function;

template <typename Result, typename... Args>
class Function<Result(Args...)> {
  public:
    // NOLINTBEGIN(google-explicit-constructor): std::function converts implicitly, too
    Function() = default;
    Function(std::nullptr_t) {}
    template <typename Callable>
        requires(!std::same_as<Callable, Function> &&
                 std::is_invocable_r_v<Result, Callable&, Args...>)
    Function(Callable callable) : body_(std::make_unique<Stored<Callable>>(std::move(callable))) {}
    // NOLINTEND(google-explicit-constructor)

    /// Calls the callable. Requires that there is one.
    Result operator()(Args... args) const { return body_->call(std::forward<Args>(args)...); }
    explicit operator bool() const noexcept { return static_cast<bool>(body_); }

  private:
    struct Body : Counted {
        virtual Result call(Args... args) = 0;
    };
    template <typename Callable>
    struct Stored final : Body {
        explicit Stored(Callable what) : callable(std::move(what)) {}
        Result call(Args... args) override { return callable(std::forward<Args>(args)...); }
        Callable callable;
    };
    Shared<Body> body_;
};

}  // namespace tabacus
