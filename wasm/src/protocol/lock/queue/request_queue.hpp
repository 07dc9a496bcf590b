// RequestQueue: the acquire requests of one tab for one lock, in the order in which they were made.
//
//   state of a request   meaning                              what ends the state
//   queued               it waits                             it is granted or fails: ended
//   ended                it is skipped, and still listed      front(), or a join() that sweeps:
//                                                             removed
//   removed              it is no longer listed               nothing
//
// A request may end in the middle of the queue. It is not removed at once, because the search for
// it would take longer the longer the queue is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "acquire_request.hpp"

namespace tabacus {

class RequestQueue {
  public:
    void join(const AcquireRequestPtr& request);
    /// Returns the first request that waits, or nothing.
    AcquireRequestPtr front();
    /// Returns all requests in order; ended ones may be among them.
    [[nodiscard]] const std::list<AcquireRequestPtr>& all() const { return requests_; }
    /// Returns the id of the request that joined last, or 0.
    [[nodiscard]] std::uint64_t newest() const { return newest_; }
    /// Returns the last request that keeps its place, or nothing.
    [[nodiscard]] AcquireRequestPtr last_in_place() const;
    /// Returns the first request after `request` that keeps its place, or nothing.
    [[nodiscard]] AcquireRequestPtr next_in_place(const AcquireRequest& request) const;
    /// Returns the least maxHold of the requests that wait, or nothing if none has one.
    [[nodiscard]] std::optional<double> least_max_hold_ms() const;

    /// These count the `ifAvailable` requests whose callers wait. If there are none, the queue is
    /// not searched for them.
    void add_try() { ++tries_; }
    void remove_try() { --tries_; }
    [[nodiscard]] bool has_tries() const { return tries_ > 0; }

  private:
    std::list<AcquireRequestPtr> requests_;
    std::size_t sweep_at_ = 0;  // the length at which join() removes ended requests
    std::uint64_t newest_ = 0;
    int tries_ = 0;
};

}  // namespace tabacus
