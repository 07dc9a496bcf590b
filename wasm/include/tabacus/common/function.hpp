// Function: a callable of any type, as std::function is, in a third of its code. Copies share the
// callable, which need not be copyable itself.
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
    // NOLINTBEGIN(google-explicit-constructor): as std::function
    Function() = default;
    Function(std::nullptr_t) {}
    template <typename Callable>
        requires(!std::same_as<Callable, Function> &&
                 std::is_invocable_r_v<Result, Callable&, Args...>)
    Function(Callable callable) : body_(std::make_unique<Stored<Callable>>(std::move(callable))) {}
    // NOLINTEND(google-explicit-constructor)

    /// Requires that there is a callable.
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
