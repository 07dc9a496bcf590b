// LivenessLock: a Web Lock with a name of its tab's own, which the tab holds as a proof of life.
// The tab acquires it before it reports to another tab that it holds a lock (lock_observer.hpp).
// The other tab then requests the liveness lock: when it is granted, the first tab has died or
// stopped.
//
//   state   meaning                               what ends the state
//   free    no other tab may wait for it          acquire(): held, unless another tab holds it just
//                                                 then, or this page has stopped meanwhile
//   held    each native hold that was reported    the release of the last of these holds, and
//           has a pointer to it; so has the tab   release(): free
//           itself, unless that would bar the
//           page from the back/forward cache
#pragma once

#include <memory>

#include "tabacus/common/world.hpp"

namespace tabacus {

struct LockContext;

class LivenessLock {
  public:
    /// The context must outlive this.
    explicit LivenessLock(LockContext& context) : context_(context) {}

    /// Acquires the lock, unless it is held already. Returns null if the tab cannot have it. Each
    /// native hold of this tab keeps the pointer until the hold is released.
    Task<std::shared_ptr<HeldLock>> acquire();
    /// Drops the tab's own pointer, which outlasts its holds.
    void release() { own_.reset(); }

  private:
    LockContext& context_;
    std::shared_ptr<HeldLock> own_;
    std::weak_ptr<HeldLock> acquired_;
};

}  // namespace tabacus
