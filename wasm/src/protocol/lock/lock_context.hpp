// LockContext: the private state of a LockTable, which its lock queues share.
//
// A queue lives as long as the context. The tasks in `scope` are destroyed before the queues.
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
    std::map<std::string, std::shared_ptr<LockQueue>, std::less<>> queues;  // by escaped name
    Departures departures;
    LockStamps stamps;
    LivenessLock liveness;
    TableState state;
    Scope scope;  // last: what runs in it uses all of the above

    /// Returns the queue of a lock's name, which the first call makes.
    LockQueue& queue(std::string_view name);
    /// Loses every lock, because the database has vanished. Nothing is granted until
    /// store_settled().
    void store_vanished();
    /// Ends store_vanished().
    void store_settled();
    /// Returns a copy of the list, because a callback may make another queue.
    [[nodiscard]] std::vector<std::shared_ptr<LockQueue>> all_queues() const;

  private:
    void on_lifecycle(LifecycleEvent event);
    void lose_all(std::string_view reason);
    void suspend(std::string_view reason);
    void resume();
    void resume_queues();
};

}  // namespace tabacus
