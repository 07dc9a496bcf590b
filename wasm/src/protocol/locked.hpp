// Locked: the naive counter inside navigator.locks, as the Web Locks article and most advice has
// it.
//
// Guarantee: none across processes. The lock excludes, but the next holder may read a copy of
// localStorage that has not heard of the last write: 25 % lost in Chromium (DESIGN §1).
#pragma once

#include "naive.hpp"

namespace tabacus {

class LockedCounter final : public NaiveCounter {
  public:
    LockedCounter(World& world, const Names& names, std::string_view name, NoticeHandler on_notice);

    Task<std::int64_t> add(std::int64_t n) override;
    [[nodiscard]] Guarantee guarantee() const override;

  private:
    World& world_;
    std::string lock_;
};

}  // namespace tabacus
