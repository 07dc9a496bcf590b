// PagePhase: whether the page of a replica is shown, left for the back/forward cache, or closed.
//
//   phase       meaning                         who may leave the state, and how
//   active      the page is shown or hidden     page_hide: suspend(); close()
//   suspended   between pagehide and pageshow   page_show: resume(); close()
//   closed      flush() fails with closed       nothing
//
// In each phase the replica follows the events of its page and of its database until it is closed
// (docs/decisions/0009).
#pragma once

#include <cstdint>

#include "tabacus/common/world.hpp"

namespace tabacus {

class Replica;
class ReplicaNews;
class ReplicaSlot;

class PagePhase {
  public:
    [[nodiscard]] bool active() const { return phase_ == Phase::active; }
    [[nodiscard]] bool closed() const { return phase_ == Phase::closed; }

    // The following two have no effect once the page is closed.
    void suspend() { leave_for(Phase::suspended); }
    void resume() { leave_for(Phase::active); }
    /// Ends the phases. The events of the page and of the database have no effect from here on.
    void close() {
        phase_ = Phase::closed;
        lifecycle_ = {};
        database_ = {};
    }
    /// Makes the replica follow the events of its page and of its database until close().
    void follow(Replica& replica);

  private:
    enum class Phase : std::uint8_t { active, suspended, closed };

    void leave_for(Phase phase) {
        if (!closed()) phase_ = phase;
    }

    Phase phase_ = Phase::active;
    Subscription lifecycle_;
    Subscription database_;
};

/// Releases the slot's lock and the channel, which would keep the page out of the back/forward
/// cache or make other tabs wait.
void release(ReplicaSlot& slot, ReplicaNews& news);

}  // namespace tabacus
