#include "locked.hpp"

#include <utility>

namespace tabacus {

LockedCounter::LockedCounter(World& world, const Names& names, std::string_view name,
                             NoticeHandler on_notice)
    : NaiveCounter(world, names.counter("locked", name), std::move(on_notice)),
      world_(world),
      lock_(names.counter("locked", name)) {}

Task<std::int64_t> LockedCounter::add(std::int64_t n) {
    const auto held = co_await world_.locks().request({.name = lock_});
    co_return co_await NaiveCounter::add(n);
}

Guarantee LockedCounter::guarantee() const {
    auto guarantee = NaiveCounter::guarantee();
    guarantee.strategy = "locked";
    guarantee.lost = "concurrent updates of tabs in different processes";
    guarantee.needs = "storage, web-locks";
    return guarantee;
}

}  // namespace tabacus
