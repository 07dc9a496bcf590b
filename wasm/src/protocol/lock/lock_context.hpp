// LockContext: the private state of a LockTable, which its lock queues share.
//
// A queue lives until it is not used any more, or as long as the context. What runs in `scope` ends
// before the queues do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "departures.hpp"
#include "epochs.hpp"
#include "liveness_lock.hpp"
#include "lock_queries.hpp"
#include "lock_record.hpp"
#include "lock_stamps.hpp"
#include "messages/lock_messages.hpp"
#include "protocol/common/wakefulness.hpp"
#include "protocol/lock/table_state.hpp"
#include "tabacus/lock/lock.hpp"

namespace tabacus {

/// The key of a user's row in Store::data.
inline std::string data_key(std::string_view store, std::string_view key) {
    return escaped(store) + "/" + std::string(key);
}

struct LockContext {
    LockContext(World& of, std::string_view name_space, NoticeHandler handler);

    World& world;
    Names names;
    LockEpochs epochs;
    LockQueries queries;
    Wakefulness wakefulness;
    NoticeHandler on_notice;
    LockMessages messages;
    Subscription lifecycle;
    Departures departures;
    LockStamps stamps;
    LivenessLock liveness;
    TableState state;
    std::map<std::string, std::shared_ptr<LockQueue>, std::less<>> queues;  // by escaped name
    Scope scope;  // last: what runs in it uses all of the above

    /// Returns the queue of a lock's name. If there is none, makes one, and first removes those
    /// that are not used any more if there are many.
    std::shared_ptr<LockQueue> queue(std::string_view name);
    /// Whether no coroutine runs.
    [[nodiscard]] bool idle();
    /// Loses every lock, because the database has vanished. Nothing is granted until
    /// store_settled().
    void store_vanished();
    /// Ends store_vanished().
    void store_settled();
    /// Returns a copy of the list, because a callback may make another queue.
    [[nodiscard]] std::vector<std::shared_ptr<LockQueue>> all_queues() const;

  private:
    /// So many queues are kept, used or not: most names are used again soon.
    static constexpr std::size_t kept_queues = 16;
    void remove_unused_queues();
    void on_lifecycle(LifecycleEvent event);
    void lose_all(std::string_view reason);
    void suspend(std::string_view reason);
    void resume();
    void resume_queues();

    std::size_t remove_at_ = kept_queues;
};

}  // namespace tabacus
