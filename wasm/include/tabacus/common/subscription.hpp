// Subscription: keeps a callback registered until it is destroyed.
#pragma once

#include <utility>

#include "tabacus/common/function.hpp"

namespace tabacus {

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
