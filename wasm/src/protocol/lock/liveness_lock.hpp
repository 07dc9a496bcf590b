// LivenessLock: the lock that a tab holds while it reports that it holds locks (lock_observer.hpp).
// Another tab that is granted it knows that this one has died or stopped.
//
//   state   meaning                               what ends the state
//   free    no other tab may wait for it          acquire(): held, unless another tab holds it just
//                                                 then, or this page has stopped meanwhile
//   held    by the holds that have reported       the release of the last of them, and of the tab's
//           themselves; also by the tab itself,   own share by release(): free
//           unless that bars the page from the
//           back/forward cache
#pragma once

#include <memory>

#include "tabacus/common/world.hpp"

namespace tabacus {

struct LockContext;

class LivenessLock {
  public:
    /// The context must outlive this.
    explicit LivenessLock(LockContext& context) : context_(context) {}

    /// Acquires the lock, unless it is held. Returns null if the tab cannot have it. The lock is for
    /// the holds of this tab: each keeps it until it is released.
    Task<std::shared_ptr<HeldLock>> acquire();
    /// Ends the tab's own share, which outlasts its holds.
    void release() { own_.reset(); }

  private:
    LockContext& context_;
    std::shared_ptr<HeldLock> own_;
    std::weak_ptr<HeldLock> acquired_;
};

}  // namespace tabacus
