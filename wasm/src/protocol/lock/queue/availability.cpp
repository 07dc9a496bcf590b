#include "availability.hpp"

#include <utility>

#include "protocol/lock/lock_timers.hpp"

namespace tabacus {

Task<std::shared_ptr<NativeHold>> Availability::acquire(NativeRequest request) {
    const auto over = std::make_shared<bool>(false);
    bool limited = false;
    while (true) {
        const Completer<Unit> answered;
        answered_ = answered;  // also for answers that come before the native lock's
        const bool last = *over;
        auto taken = co_await lock_.native->acquire(request);
        if (taken || last || busy_ || !lock_.context.messages.available()) co_return taken;
        if (!std::exchange(limited, true)) lock_.spawn(end_answers(over));
        refused_ = true;
        co_await answered.async();
        refused_ = false;
        if (busy_) co_return nullptr;
    }
}

Task<void> Availability::end_answers(std::shared_ptr<bool> over) {
    co_await sleep_for_answers(lock_.context.world, 2 * grace_period_ms);
    *over = true;
    answered_.complete({});
}

void Availability::on_busy() {
    busy_ = true;
    answered_.complete({});
}

}  // namespace tabacus
