// RequestExpiry: ends the requests that do not wait for ever: those with `timeout` or
// `ifAvailable`.
//
//   a request with     state          what ends the state
//   timeout            waiting        granted; or the time is over: expired
//   timeout            expired        granted; or refused, once it is known to wait for another tab
//                                     or after overtime_ms
//   ifAvailable        first in line  LockDriver: granted, or unavailable
//   ifAvailable        behind others  LockDriver: granted; or unavailable after the time in which
//                                     other tabs answer
//
// It has no state of its own: the states are those of the requests.
#pragma once

#include "availability.hpp"
#include "lock_driver.hpp"

namespace tabacus {

class RequestExpiry {
  public:
    RequestExpiry(NamedLock& lock, RequestQueue& requests, const NativeHolds& holds,
                  const Availability& availability, LockDriver& driver)
        : lock_(lock),
          requests_(requests),
          holds_(holds),
          availability_(availability),
          driver_(driver) {}

    /// Refuses the request when its timeout is over. Requires that it has one.
    void start_timeout(const AcquireRequestPtr& request) { lock_.spawn(expire(request)); }
    /// Ends an `ifAvailable` request if it is still behind another request after the time in which
    /// other tabs answer. The first request of the queue then waits for another tab; otherwise it
    /// would have been granted. If there is no answer at all, the request ends a second later.
    void start_try(const AcquireRequestPtr& request) { lock_.spawn(give_up(request)); }

  private:
    Task<void> expire(AcquireRequestPtr request);
    Task<void> await_first_answer(AcquireRequestPtr request);
    Task<void> give_up(AcquireRequestPtr request);

    NamedLock& lock_;
    RequestQueue& requests_;
    const NativeHolds& holds_;
    const Availability& availability_;
    LockDriver& driver_;
};

}  // namespace tabacus
