#include "locked.hpp"

#include "protocol/common/store_loss_detector.hpp"

namespace tabacus {

/// Without exclusion an increment could be lost, so a tab that is cut off writes nothing.
Task<std::int64_t> LockedCounter::store(std::int64_t n) {
    const auto held = co_await world().locks().request({.name = key()});
    if (cut_off()) co_await fail(cut_off_error());
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
