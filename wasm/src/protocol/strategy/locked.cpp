#include "locked.hpp"

namespace tabacus {

Task<std::int64_t> LockedCounter::store(std::int64_t n) {
    const auto held = co_await world().locks().request({.name = key()});
    co_return co_await NaiveCounter::store(n);
}

Guarantee LockedCounter::guarantee() const {
    auto guarantee = NaiveCounter::guarantee();
    guarantee.strategy = "locked";
    guarantee.lost = "concurrent updates of tabs in different processes";
    guarantee.needs = "storage, web-locks";
    guarantee.losses.lost = {lost_with_storage, lost_with_storage, always};
    return guarantee;
}

}  // namespace tabacus
