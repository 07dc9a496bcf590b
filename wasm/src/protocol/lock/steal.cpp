// A request that takes the lock from its holders, in whatever tab they are.
#include "lock_queue.hpp"

namespace tabacus {

Task<void> LockQueue::steal(RequestPtr request) {
    const auto taken = co_await attempt(acquire_by_stealing(request));
    std::optional<Error> failure;
    if (!taken) {
        failure = taken.error();
    } else if (!request->grant) {
        failure = Error(ErrorCode::lock_lost, "the lock was stolen again before it was granted");
    }
    settle(request, std::move(failure));
}

Task<void> LockQueue::acquire_by_stealing(RequestPtr request) {
    const auto& asked = request->options;
    const NativeRequest native{
        .steal = true,
        .claim = {asked.label, static_cast<std::int64_t>(asked.max_hold_ms.value_or(0))}};
    auto previous_holds = stolen_;
    if (hold_) previous_holds.push_back(hold_);
    const auto hold = co_await native_lock_->acquire(native);
    // The previous holders in this tab are notified at once, also where nothing else notifies them.
    for (const auto& previous : previous_holds) lose(previous, "stolen");
    // A hold that was stolen before it was adopted is not reported as lost later: it ends here.
    if (request->ended || context_.suspended || context_.closed || hold->lost) {
        native_lock_->release(hold);
        if (context_.closed) co_await fail(closed_error());
        if (context_.suspended) {
            co_await fail(ErrorCode::lock_lost, "the page was frozen or hidden: try again");
        }
        co_return;
    }
    stolen_.push_back(hold);
    adopt(hold);
    if (!hold->tokens.empty()) request->grant = grant(asked, hold);
    context_.scope.spawn(announce_grant(hold));
}

}  // namespace tabacus
