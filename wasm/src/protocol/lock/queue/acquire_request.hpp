// AcquireRequest: one caller's acquire(), from when it joins its tab's queue until it ends.
//
//   state         ended   grant   failure   what ends the state
//   waiting       false   none    none      LockDriver::settle() or refuse()
//   granted       true    set     none      nothing: its caller takes the grant
//   unavailable   true    none    none      nothing: an `ifAvailable` request of a lock in use
//   failed        true    none    set       nothing: timed out, aborted, stolen, closed, deadlock
//
// If the timeout of a request is over before the browser or the database has answered, the request
// goes on as an `ifAvailable` request that is `expired`: it times out if the lock is unavailable.
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
    bool alone = false;    // whether it needs a position of its own (FairOrder::stands_alone)
    bool expired = false;  // whether its timeout is over: it fails unless the lock is available
    std::optional<Error> failure;
    std::shared_ptr<Grant> grant;
    Completer<Unit> decided;

    /// Whether it waits until it is granted, and is therefore not an `ifAvailable` request.
    [[nodiscard]] bool keeps_place() const { return !ended && !options.if_available; }
};
using AcquireRequestPtr = std::shared_ptr<AcquireRequest>;

inline Error timeout_error() { return {ErrorCode::timed_out, "the lock was not granted in time"}; }

}  // namespace tabacus
