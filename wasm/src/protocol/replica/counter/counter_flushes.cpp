#include "counter_flushes.hpp"

#include <algorithm>

#include "protocol/common/taken.hpp"

namespace tabacus {

Async<Unit> CounterFlushes::wait() {
    const Completer<Unit> done;
    waiters_.push_back({counted_, done});
    return done.async();
}

void CounterFlushes::confirm(std::uint64_t through) {
    committed_through_ = std::max(committed_through_, through);
    for (auto& waiter : taken(waiters_)) {
        if (waiter.target <= committed_through_) {
            waiter.done.complete({});
        } else {
            waiters_.push_back(std::move(waiter));
        }
    }
}

void CounterFlushes::fail(const Error& error) {
    for (const auto& waiter : taken(waiters_)) waiter.done.fail(failure_of(error));
}

void CounterFlushes::fail_unknown() {
    outcome_unknown_ = waiters_.empty();
    fail(unknown_outcome());
}

Error CounterFlushes::unknown_outcome() {
    return {ErrorCode::unknown_commit, "a commit was cut off, and its row has a newer owner"};
}

}  // namespace tabacus
