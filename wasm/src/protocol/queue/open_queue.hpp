// OpenQueue: one queue in this tab, as each of its parts knows it.
//
//   closed   meaning                              what ends the state
//   false    callers and workers use the queue    Queues::close()
//   true     every call fails with closed         nothing: the tab has ended
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "protocol/common/concat.hpp"
#include "queue_context.hpp"
#include "rows.hpp"
#include "tabacus/queue/queue.hpp"

namespace tabacus {

/// A transaction that aborted for a passing reason (a dropped connection) is tried again.
constexpr int queue_attempts_max = 4;
/// The longest time by which a lost message or a wrong head delays work, once anything happens in
/// the queue.
constexpr double work_again_ms = 5'000;

struct OpenQueue {
    QueueContext& context;
    std::string name;
    std::string key;  // escaped
    QueueOptions options;
    QueueCallbacks callbacks;
    bool closed = false;
    bool follows_jobs = true;  // as Queue::follow_jobs()

    Task<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability) {
        return context.transactions.begin(scope, access, durability);
    }
    /// Begins a transaction that only reads.
    Task<std::unique_ptr<Transaction>> begin_read(Stores scope) {
        return begin(scope, Access::read, Durability::relaxed);
    }
    /// Returns the queue's rows within the transaction. What the transaction does is added to
    /// `changes`.
    [[nodiscard]] QueueRows rows(Transaction& transaction, QueueChanges& changes) {
        return {transaction, context, key, options, changes};
    }
    /// Returns the key of a row of this queue.
    [[nodiscard]] std::string row_key(std::string_view rest) const {
        return concat({key, "/", rest});
    }
    /// Returns the prefix of the rows with the outcomes for this tab.
    [[nodiscard]] std::string outcomes_prefix() const {
        return concat({key, "/o/", context.tab, "/"});
    }
    /// Announces to other tabs that a transaction is about to commit. They read the store even if
    /// this tab dies before it posts the events.
    void announce_commit() const {
        if (context.channel) context.channel->post(format_commit_notice(key, context.tab));
    }
    /// Whether every change of the queue is announced to this tab. Without Web Locks nothing
    /// reports that a tab has died.
    [[nodiscard]] bool announced() const {
        return context.channel && context.locks.exclusion() == Exclusion::web_locks;
    }
    [[nodiscard]] double monotonic_ms() const { return context.world.clock().monotonic_ms(); }
};

/// The failure of every call of a closed queue.
inline Error queue_closed() { return {ErrorCode::closed, "the tab was closed"}; }

}  // namespace tabacus
