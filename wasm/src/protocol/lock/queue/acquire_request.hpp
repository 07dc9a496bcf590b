// AcquireRequest: one caller's acquire(), from when it joins its tab's queue until it ends.
//
//   state         ended   grant   failure   what ends the state
//   waiting       false   none    none      LockDriver::settle() or refuse()
//   granted       true    set     none      nothing: its caller takes the grant
//   unavailable   true    none    none      nothing: an `ifAvailable` request of a lock in use
//   failed        true    none    set       nothing: timed out, aborted, stolen, closed, deadlock
//
// A request whose time is over before the first answer goes on as an `ifAvailable` one that is
// `expired`: where the lock is unavailable, it has timed out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tabacus/lock/lock.hpp"

namespace tabacus {

struct AcquireRequest {
    std::uint64_t id = 0;
    LockOptions options;
    double since_ms = 0;  // since the Unix epoch
    bool ended = false;
    bool alone = false;    // it has a position of its own, not with the one before it in its tab
    bool expired = false;  // its time is over: if the lock is not available, it has timed out
    std::optional<Error> failure;
    std::shared_ptr<Grant> grant;
    Completer<Unit> decided;

    /// Whether it keeps its place until it is granted: it waits, and is no `ifAvailable` request.
    [[nodiscard]] bool keeps_place() const { return !ended && !options.if_available; }
};
using AcquireRequestPtr = std::shared_ptr<AcquireRequest>;

inline Error timeout_error() { return {ErrorCode::timed_out, "the lock was not granted in time"}; }

}  // namespace tabacus
