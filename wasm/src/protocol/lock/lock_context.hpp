// LockContext: the inside of a LockTable, shared by its queues.
//
// A queue lives as long as the context. What runs in `scope` ends before them.
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
#include "lock_queries.hpp"
#include "lock_record.hpp"
#include "protocol/common/wakefulness.hpp"
#include "queue/near_channels.hpp"
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
    std::unique_ptr<Channel> channel;  // of all tabs
    NearChannels near;
    Subscription lifecycle;
    std::map<std::string, std::shared_ptr<LockQueue>, std::less<>> queues;  // by escaped name
    std::map<std::string, Completer<Unit>> echoes;  // by the nonce that is awaited
    Departures departures;
    std::uint64_t last_id = 0;
    double last_stamp_ms = 0;
    std::shared_ptr<HeldLock> liveness;  // kept beyond the last hold, if it bars no cache
    int evictions = 0;
    bool suspended;          // prerendered, frozen, or between pagehide and pageshow
    bool unsettled = false;  // the database has vanished, and the lock manager is being probed
    bool closed = false;
    bool cut_off = false;             // closed, because new documents have another lock manager
    bool older_version_seen = false;  // it announces its requests to all tabs
    Scope scope;                      // last: what runs in it uses all of the above

    /// Returns the queue of a lock's name, which the first call makes.
    LockQueue& queue(std::string_view name);
    /// Whether nothing may be granted: the page is not shown yet, frozen or left, the database has
    /// vanished, or the table is closed.
    [[nodiscard]] bool stopped() const { return suspended || unsettled || closed; }
    /// Returns why a table that is closed grants nothing.
    [[nodiscard]] Error end_error() const;
    /// Loses every lock, because the database has vanished. Nothing is granted until
    /// store_settled().
    void store_vanished();
    /// Ends store_vanished().
    void store_settled();
    /// Returns a copy: a callback may open another lock.
    [[nodiscard]] std::vector<std::shared_ptr<LockQueue>> all_queues() const;
    void post(LockMessage::Kind kind, const std::string& key,
              std::vector<std::string> detail = {}) const {
        if (channel)
            channel->post(format_lock_message({kind, key, epochs.tab(), std::move(detail)}));
    }
    /// Posts to the tabs near the lock; to all tabs where Web Locks do not exclude, or if a tab of
    /// a version without near channels was noticed.
    void post_near(LockMessage::Kind kind, const std::string& key,
                   std::vector<std::string> detail = {});
    /// Does the same a little later (Channel::post_deferred).
    void post_near_deferred(LockMessage::Kind kind, const std::string& key);
    /// Receives what post_near() posts about the lock, while the tab is near it.
    void listen_near(const std::string& key) {
        if (channel && has_near()) near.listen(key);
    }
    /// Returns true if a message of this tab about the lock comes back to it: its channel and its
    /// event loop work.
    Task<bool> channel_echoes(std::string key);
    /// Acquires the liveness lock of this tab, unless it is held. Returns null if the tab cannot
    /// have it. The lock is for the holds of this tab: each keeps it until it is released.
    Task<std::shared_ptr<HeldLock>> acquire_liveness();
    /// Returns the time since the Unix epoch. It rises with every call, so that there is an order
    /// where the clock's step is coarse.
    double stamp_ms();

  private:
    std::weak_ptr<HeldLock> acquired_liveness_;
    void open_channel();
    void on_message(std::string_view text);
    void deliver(const LockMessage& message);
    bool receive_near(unsigned bucket, std::string_view text);
    /// Whether near channels are used: where Web Locks exclude.
    [[nodiscard]] bool has_near() const { return world.locks().available(); }
    [[nodiscard]] bool posts_to_all() const { return older_version_seen || !has_near(); }
    void on_lifecycle(LifecycleEvent event);
    void lose_all(std::string_view reason);
    void suspend(std::string_view reason);
    void resume();
    void go_on();
};

}  // namespace tabacus
