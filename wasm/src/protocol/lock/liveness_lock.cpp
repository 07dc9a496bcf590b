#include "liveness_lock.hpp"

#include <utility>

#include "lock_context.hpp"

namespace tabacus {

Task<std::shared_ptr<HeldLock>> LivenessLock::acquire() {
    if (acquired_.expired()) {
        auto& world = context_.world;
        auto lock = co_await attempt(world.locks().request(
            {.name = context_.names.liveness(context_.epochs.tab()), .if_available = true}));
        if (!lock || !lock.value() || context_.state.stopped()) co_return acquired_.lock();
        const std::shared_ptr<HeldLock> acquired = std::move(lock.value());
        acquired_ = acquired;
        if (!world.lifecycle().locks_bar_cache()) own_ = acquired;
    }
    co_return acquired_.lock();
}

}  // namespace tabacus
