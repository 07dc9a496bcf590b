// LockObserver: what this tab can tell about a lock and its requests in all tabs, for callers that
// ask and for callers that watch.
//
// Each tab knows its own requests, and reports them to a tab that asks:
//
//   state of a query   meaning                                what ends the state
//   asking             posted with a nonce; tabs report       all tabs that the browser names have
//                                                             reported, a holder among them; or
//                                                             answer_within_ms are over: complete
//   complete           it is removed, and later reports are   nothing
//                      ignored
//
// A living tab announces what it does, but a tab that crashes sends nothing. While somebody
// watches, the observer looks whether the holder it knows of is still there:
//
//   held_seen_   meaning                                      what ends the state
//   false        no other tab is known to hold the lock       an announced grant; a query or a poll
//                                                             finds a holder
//   true         another tab holds the lock, as far as known  an announced release; a poll finds no
//                                                             holder: a crash, which is a change
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "availability.hpp"
#include "lock_listeners.hpp"
#include "native_holds.hpp"
#include "request_queue.hpp"

namespace tabacus {

class LockObserver {
  public:
    LockObserver(NamedLock& lock, LockListeners& listeners, const RequestQueue& requests,
                 const NativeHolds& holds, const Availability& availability)
        : lock_(lock),
          listeners_(listeners),
          requests_(requests),
          holds_(holds),
          availability_(availability) {}

    /// Returns the requests of all tabs, as LockTable::query() does.
    Task<std::vector<LockRequestInfo>> query();
    /// Returns the requests of this tab: its grants first, then those that wait.
    [[nodiscard]] std::vector<LockRequestInfo> own_requests() const;
    Task<bool> is_locked();
    Task<void> wait_for_unlock(std::optional<AbortSignal> signal, std::optional<double> timeout_ms);
    Subscription on_change(Function<void()> callback);

    /// A request of this tab or of another one was made. Notifies the watchers if the lock is held:
    /// a request that need not wait notifies them by its grant.
    void on_waiter() const;
    /// Another tab announced a grant.
    void on_taken();
    /// Another tab announced a release.
    void on_released() { held_seen_ = false; }
    /// Answers another tab's query with what this tab holds and waits for.
    void on_query(const LockMessage& query) const;
    /// Adds another tab's report to the query of this tab that it answers.
    void on_report(const LockMessage& message);

  private:
    struct TabQuery;
    Task<std::vector<LockRequestInfo>> query_tabs();
    Task<void> post_query(std::shared_ptr<TabQuery> query);
    [[nodiscard]] bool uses_native_lock() const;
    Task<void> poll_for_crash();
    Task<void> check_for_crash();

    NamedLock& lock_;
    LockListeners& listeners_;
    const RequestQueue& requests_;
    const NativeHolds& holds_;
    const Availability& availability_;
    std::vector<std::shared_ptr<TabQuery>> queries_;
    bool polling_ = false;  // poll_for_crash() runs
    bool held_seen_ = false;
};

}  // namespace tabacus
