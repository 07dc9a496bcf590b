// LockQueue: one lock as one tab sees it: its own requests in order, and its hold of the native
// lock.
//
// The *native lock* is what excludes other tabs: a Web Lock, or a lease. The tab requests it once
// for all of its own requests. It requests it once more for each request of its own that came after
// a request of another tab, that asks for another mode, or that has only `ifAvailable` requests
// before it. A native lock that the tab has acquired is its *native hold*. Under it requests are
// *granted*, one after another (exclusive) or together (shared). Between two grants the hold is
// kept for a little while (grace_period_ms), because acquiring the native lock again costs a
// hundred times as much as a grant under the hold.
//
// The tab releases an idle hold at once when another tab begins to wait or when the page is hidden.
// It stops granting under a hold that is older than slice_ms, unless the browser reports that no
// other tab waits. Therefore a lost message does not delay other tabs for longer than that.
//
// The queue consists of these parts, each of which refers only to parts before it:
//
//   NamedLock        the name, the native lock, what wakes the driver, and the LockContext
//   LockListeners    callbacks of this tab that watch the lock
//   RequestQueue     this tab's requests, in order
//   Contenders       other tabs' requests, and between which of this tab's requests they came
//   NativeHolds      what this tab has of the native lock, and the grants under it
//   FairOrder        this tab's positions among other tabs
//   Availability     whether other tabs report that the lock is in use
//   HandOver         how long a hold goes on granting
//   LockEvictor      takes the lock from a hung holder
//   HolderCheck      asks the holder whether it lives, and has it evicted if it does not answer
//   LockDriver       the coroutine that acquires the native lock and grants it
//   RequestExpiry    ends requests with `timeout` or `ifAvailable`
//   DeadlockProbe    ends a request of each cycle of waits
//   LockObserver     reports the requests of all tabs, and notices crashes
//
// A queue that is not used any more is removed (LockContext::queue()). A name that is used again
// has a new one, as in a tab that uses it for the first time.
//
// The life of a request has its table in acquire_request.hpp, that of the driver in
// lock_driver.hpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queue/deadlock_probe.hpp"
#include "queue/lock_driver.hpp"
#include "queue/lock_observer.hpp"
#include "queue/request_expiry.hpp"

namespace tabacus {

class LockQueue : public std::enable_shared_from_this<LockQueue> {
  public:
    LockQueue(LockContext& context, std::string key, std::string name);
    static std::shared_ptr<LockQueue> make(LockContext& context, const std::string& key,
                                           std::string_view name);

    /// Requires that `self` is this queue, which the caller's coroutine keeps alive.
    Task<Held> acquire(std::shared_ptr<LockQueue> self, LockOptions options);

    /// Whether no coroutine runs.
    [[nodiscard]] bool idle() { return scope_.idle(); }
    /// Whether the queue may be removed: it has no request, no hold, no listener, and runs no
    /// coroutine. Requires that only the context refers to it.
    [[nodiscard]] bool unused() {
        return idle() && !requests_.front() && !holds_.any() && !listeners_.any();
    }
    /// Whether this tab holds the lock, or waits for it.
    [[nodiscard]] bool in_use() const { return !observer_.own_requests().empty(); }
    /// Whether this tab has to receive the messages about the lock: the tab holds the lock, is the
    /// next to hold it, tries it (`ifAvailable`), asks its holder, or watches it.
    [[nodiscard]] bool is_near() const {
        return holds_.any() || driver_.is_next() || check_.asking() || listeners_.any();
    }
    LockObserver& observer() { return observer_; }
    DeadlockProbe& probe() { return probe_; }
    Subscription on_broadcast(Function<void(const std::string&)> callback) {
        lock_.listen_near();
        return listeners_.on_broadcast(std::move(callback));
    }
    /// Calls the callbacks of on_broadcast() in all tabs.
    void broadcast(const std::string& about);

    void on_message(const LockMessage& message);
    /// Releases the lock at once and notifies its holders in this tab. Requests that wait go on
    /// waiting.
    void suspend(std::string_view reason);
    void resume();
    void became_hidden() {
        lock_.wake.set();
        check_.became_hidden();
    }
    void became_visible() { check_.became_visible(); }
    void close();
    [[nodiscard]] const std::string& name() const { return lock_.name; }

  private:
    struct Withdrawal;
    AcquireRequestPtr make_request(LockOptions options);
    void enqueue(const AcquireRequestPtr& request);
    void on_handed(const std::string& tab);
    void on_busy(const std::vector<std::string>& detail);

    NamedLock lock_;
    LockListeners listeners_;
    RequestQueue requests_;
    Contenders contenders_;
    NativeHolds holds_;
    FairOrder order_;
    Availability availability_;
    HandOver hand_over_;
    LockEvictor evictor_;
    HolderCheck check_;
    LockDriver driver_;
    RequestExpiry expiry_;
    DeadlockProbe probe_;
    LockObserver observer_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
