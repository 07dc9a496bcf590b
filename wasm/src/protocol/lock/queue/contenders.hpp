// Contenders: the other tabs that announced requests for a lock while this tab waited for it or
// held it, and between which requests of this tab they came.
//
//   state of a contender   meaning                              what ends the state
//   waiting                its tab may wait for the lock        forget_before(): it had its turn
//                                                               forget_gone(): it waits no longer
//   forgotten              it is no longer listed               another announcement of its tab
//
// Another tab may be listed as several contenders: once for each gap between two requests of this
// tab in which it has announced a request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "acquire_request.hpp"

namespace tabacus {

/// Another tab that announced requests while this one waited or held.
struct Contender {
    std::string tab;
    double since_ms = 0;               // when the first of its requests was made
    double received_ms = 0;            // when the last announcement was received
    std::uint64_t after_request = 0;   // this tab's newest request when it was received
    std::uint64_t after_position = 0;  // this tab's newest position when it was received
    bool tries = false;                // whether one of its requests is `ifAvailable`
};

class Contenders {
  public:
    /// Adds a contender. Another request of the same tab at the same point does not change the
    /// order, and is merged with the first.
    void note(Contender contender);
    [[nodiscard]] bool empty() const { return all_.empty(); }
    /// Whether one of them asked with `ifAvailable`.
    [[nodiscard]] bool any_tries() const;
    /// Whether another tab's request came after a position of this tab.
    [[nodiscard]] bool any_after(std::uint64_t position) const;
    /// Whether another tab's request came after a position of this tab, and before this request.
    [[nodiscard]] bool came_between(std::uint64_t position, const AcquireRequest& request) const;
    /// Whether another tab's request came before `request`. If `request` was made after this tab
    /// had received the announcement of the other request, it came later, even if the clocks
    /// differ. So no tab is overtaken for ever.
    [[nodiscard]] bool came_before(const AcquireRequest& request) const;

    /// Forgets the contenders that were before this position: each has had its turn, or is gone.
    void forget_before(std::uint64_t position);
    /// Forgets the contenders that are gone. Requires that no other tab waits. A contender that
    /// announced itself within slice_ms is kept, because its announcement may overtake its request.
    /// Returns true if a request of this tab may now be admitted.
    ///
    /// @param asked_ms  When the query that found no other waiting tab was begun.
    bool forget_gone(double asked_ms, double now_ms);

  private:
    std::vector<Contender> all_;
};

}  // namespace tabacus
