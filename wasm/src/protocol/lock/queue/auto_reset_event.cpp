#include "auto_reset_event.hpp"

#include <utility>

namespace tabacus {

void AutoResetEvent::set() {
    set_ = true;
    if (const auto* const waiter = std::exchange(waiter_, nullptr)) waiter->resume();
}

}  // namespace tabacus
