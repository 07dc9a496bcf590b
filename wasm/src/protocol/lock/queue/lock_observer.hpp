// LockObserver: the state of a lock and its requests in all tabs, for callers of this tab that
// query it (query(), is_locked()) or watch it (on_change()).
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
// A living tab announces what it does, but a tab that crashes sends nothing. So a tab that reports
// that it holds the lock also holds its *liveness lock* (liveness_lock.hpp). While a caller watches
// the lock, the observer *follows* each such holder: it requests that tab's liveness lock, shared,
// which is granted when the holder dies or stops.
//
//   watched lock   meaning                                    what ends the state
//   free           no other tab is known to hold the lock     an announced grant, or a query that
//                                                             finds a holder: unknown
//   unknown        another tab holds the lock, but has not    its report: followed; an announced
//                  reported so, or has no liveness lock: it   release, or no holder is left: free
//                  hangs, or is of an older version
//   followed       the holders are known and followed         an announced release, or the grant of
//                                                             the liveness lock: free, which is a
//                                                             change
//
// In the state `unknown`, and in no other, the observer checks every crash_poll_ms whether a tab
// still holds the lock, and asks the holder to report. It does so by a query with an empty nonce,
// which only holders answer.
#pragma once

#include <map>
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

    /// What a caller's coroutine keeps alive: the queue of this observer.
    using Owner = std::shared_ptr<const void>;

    /// Returns the requests of all tabs, as LockTable::query() does.
    Task<std::vector<LockRequestInfo>> query(Owner owner);
    /// Returns the requests of this tab: its grants first, then those that wait.
    [[nodiscard]] std::vector<LockRequestInfo> own_requests() const;
    Task<bool> is_locked(Owner owner);
    Task<void> wait_for_unlock(Owner owner, std::optional<AbortSignal> signal,
                               std::optional<double> timeout_ms);
    Subscription on_change(Function<void()> callback);

    /// Notes that this tab or another one has made a request. Calls the callbacks that watch if the
    /// lock is held. If it is free, the grant of the request will call them.
    void on_waiter();
    /// Notes that another tab announced a grant.
    void on_taken(const std::string& tab);
    /// Notes that another tab announced a release. If tabs wait, one of them has the lock next, and
    /// may stop before it announces that.
    void on_released(const std::string& tab);
    /// Notes that the tab has reported that it does not hold the lock.
    void unfollow(const std::string& tab);
    /// Forgets all holders: this tab stops, and receives no messages until resume().
    void unfollow_all();
    void resume() {
        if (listeners_.watched()) lock_.spawn(find_holders());
    }
    /// Answers another tab's query with what this tab holds and waits for.
    void on_query(const LockMessage& query);
    /// Adds another tab's report to the query of this tab that it answers.
    void on_report(const LockMessage& message);
    /// Whether the tab that reports holds the lock. Reports list holds first.
    static bool reports_hold(const LockMessage& message) {
        return message.detail.size() > 1 && message.detail[1] == "h";
    }

  private:
    struct TabQuery;
    Task<std::vector<LockRequestInfo>> query_tabs();
    Task<void> post_query(std::shared_ptr<TabQuery> query);
    [[nodiscard]] bool uses_native_lock() const;
    void report(std::string nonce) const;
    Task<void> report_alive(std::string nonce);
    void follow(const std::string& tab);
    Task<void> await_end(std::string tab, AbortSignal unfollowed);
    [[nodiscard]] bool holder_unknown() const;
    void note_held();
    Task<void> find_holders();
    Task<void> poll_for_crash();
    Task<void> check_for_crash();

    NamedLock& lock_;
    LockListeners& listeners_;
    const RequestQueue& requests_;
    const NativeHolds& holds_;
    const Availability& availability_;
    std::vector<std::shared_ptr<TabQuery>> queries_;
    std::map<std::string, AbortSignal> followed_;  // each ends the request for the liveness lock
    bool polling_ = false;                         // poll_for_crash() runs
    bool held_seen_ = false;
    bool waiter_seen_ = false;    // since the last grant
    bool holder_missed_ = false;  // a query ended before a holder had reported
};

}  // namespace tabacus
