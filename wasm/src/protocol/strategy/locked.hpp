// Locked: the naive counter inside navigator.locks, as the Web Locks article and most advice has
// it.
//
// Guarantee: none across processes. The lock excludes, but the next holder may read a copy of
// localStorage that has not received the last write: 25 % lost in Chromium (docs/decisions/0001).
#pragma once

#include "naive.hpp"

namespace tabacus {

class LockedCounter final : public NaiveCounter {
  public:
    explicit LockedCounter(CounterLocation location)
        : NaiveCounter(std::move(location), "locked") {}

    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;
};

}  // namespace tabacus
