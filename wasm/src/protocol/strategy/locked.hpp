// Locked: the naive counter inside a Web Lock, as the Web Locks article and most advice describe
// it.
//
// Guarantee: none across processes. The lock excludes other tabs, but the next holder may read a
// copy of localStorage that has not received the last write: Chromium tabs lost 25 % of their
// increments (docs/decisions/0001).
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
