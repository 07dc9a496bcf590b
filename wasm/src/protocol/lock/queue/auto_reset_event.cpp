#include "auto_reset_event.hpp"

#include <utility>

namespace tabacus {

void AutoResetEvent::set() {
    set_ = true;
    const auto signal = std::exchange(signal_, {});
    signal.complete({});
}

Task<void> AutoResetEvent::wait() {
    if (!set_) {
        const auto signal = signal_;
        co_await signal.async();
    }
    set_ = false;
}

}  // namespace tabacus
