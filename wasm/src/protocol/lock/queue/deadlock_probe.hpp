// DeadlockProbe: finds cycles of waits over tabs, and ends one request of each. It is the algorithm
// of Chandy, Misra and Haas, "Distributed Deadlock Detection" (ACM TOCS 1983), for requests that
// wait for all holders of a lock.
//
// A request is made *within* a grant if its caller passes that grant (LockOptions::within). Only
// then is it known that the holder of one lock waits for another. When such a request has waited
// for a moment, its tab sends a probe to the holders of the lock that it waits for. Each tab that
// has such a holder sends the probe on, once for each of its requests that waits within that
// holder's grant. A probe that returns to its first request has gone round a cycle. The victim is
// the request of the cycle with the greatest id, whichever request found the cycle.
//
//   request        meaning                               what ends the state
//   suspected      its probe was sent                    it ends; or its probe returns: confirming
//                                                        if its id is the greatest of the cycle;
//                                                        otherwise the victim becomes suspected
//   confirming     a second probe was sent: a request    it ends; or that probe returns: refused
//                  on the way may have timed out
//   refused        it failed with `deadlock`             nothing
//
// The state is in the probes, not here: the first field of a probe is "1" for a suspected request
// and "2" for a confirming one. A probe follows waits for the holders of a lock only. It does not
// follow a wait for requests that are ahead in the queue; timeouts end such a cycle.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lock_driver.hpp"
#include "native_holds.hpp"
#include "request_queue.hpp"

namespace tabacus {

class DeadlockProbe {
  public:
    DeadlockProbe(NamedLock& lock, const RequestQueue& requests, const NativeHolds& holds,
                  LockDriver& driver)
        : lock_(lock), requests_(requests), holds_(holds), driver_(driver) {}

    /// Sends probes from time to time while the request waits. Requires that it was made within a
    /// held lock.
    void start(const AcquireRequestPtr& request) { lock_.spawn(send_repeatedly(request)); }
    /// Follows a probe from the holders of this lock in this tab to the requests that they wait
    /// for.
    void on_probe(const LockMessage& message);
    /// Notes that a cycle was found whose victim is a request for this lock.
    void on_victim(const LockMessage& message);
    /// Sends the probe on for each request for this lock that waits within one of the grants.
    void follow(const std::vector<std::shared_ptr<Grant>>& held,
                const std::vector<std::string>& path);

  private:
    [[nodiscard]] std::string id_of(const AcquireRequest& request) const;
    Task<void> send_repeatedly(AcquireRequestPtr request);
    void send(const AcquireRequest& request, bool confirming);
    void pass_on(const LockMessage& message);
    void extend(const AcquireRequestPtr& request, const std::vector<std::string>& path);
    void on_returned(const AcquireRequestPtr& request, const std::vector<std::string>& path);

    NamedLock& lock_;
    const RequestQueue& requests_;
    const NativeHolds& holds_;
    LockDriver& driver_;
};

}  // namespace tabacus
