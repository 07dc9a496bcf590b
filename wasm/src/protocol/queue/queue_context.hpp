// QueueContext: what all queues of a tab share.
#pragma once

#include <memory>
#include <string>

#include "protocol/common/abortable_transactions.hpp"
#include "protocol/common/names.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus {

struct QueueContext {
    World& world;
    Names names;
    LockTable& locks;
    std::string tab;  // the name of this tab in rows and events
    NoticeHandler on_notice;
    AbortableTransactions transactions;
    Scope& scope;
    std::unique_ptr<Channel> channel = nullptr;  // none while the page is in the back/forward cache
    /// The time since the Unix epoch when the monotonic clock was 0. All open tabs use the same one
    /// (queues.cpp), so that delays do not change if the wall clock is set.
    double epoch_ms = world.clock().now_ms() - world.clock().monotonic_ms();

    /// Returns the time since the Unix epoch, by the monotonic clock.
    [[nodiscard]] double steady_ms() const { return epoch_ms + world.clock().monotonic_ms(); }
};

}  // namespace tabacus
