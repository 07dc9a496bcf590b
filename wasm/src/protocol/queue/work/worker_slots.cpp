#include "worker_slots.hpp"

#include <algorithm>

#include "protocol/common/record.hpp"

namespace tabacus {

bool WorkerSlots::occupy(int slot) {
    if (std::find(occupied_.begin(), occupied_.end(), slot) != occupied_.end()) return false;
    occupied_.push_back(slot);
    return true;
}

void WorkerSlots::release(int slot) {
    std::erase(occupied_, slot);
    for (const auto& caller : std::exchange(waiting_, {})) caller.complete({});
}

Async<Unit> WorkerSlots::next_release() {
    const Completer<Unit> caller;
    waiting_.push_back(caller);
    return caller.async();
}

/// Requests the slot's lock without a fencing token, because the slot's row fences what is written
/// under the lock (turn_taker.hpp). A lease has a token all the same: nothing else detects a lease
/// that expired before its holder's first turn.
Task<Held> WorkerSlots::request(int slot) {
    auto& locks = open_.context.locks;
    LockOptions options;
    options.signal = stopped_;
    options.label = open_.name;
    options.evict_unresponsive = true;
    options.unfenced = locks.exclusion() == Exclusion::web_locks;
    return locks.acquire(concat({"queue/", open_.name, "/", format_decimal(slot)}),
                         std::move(options));
}

void WorkerSlots::stop_requests() const {
    const auto stopped = stopped_;  // kept: a request that ends may begin others
    stopped.abort();
}

}  // namespace tabacus
