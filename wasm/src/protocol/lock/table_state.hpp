// TableState: whether the locks of a tab may be granted. They may be granted while the page runs,
// the database exists, and the table is open.
//
//   state       meaning                                              what ends the state
//   granting    locks may be granted                                 suspend(): suspended
//                                                                    lose_store(): unsettled
//                                                                    close(): closed
//   suspended   the page is not shown yet, frozen, or between        resume(): granting
//               pagehide and pageshow                                close(): closed
//   unsettled   the database has vanished, and the lock manager is   settle_store(): granting
//               being probed                                         close(): closed
//   closed      the table is closed, by its tab or because new       nothing
//               documents have another lock manager (cut_off())
//
// A table can be suspended and unsettled at once. It grants again when both have ended.
#pragma once

#include <utility>

#include "protocol/common/store_loss_detector.hpp"

namespace tabacus {

class TableState {
  public:
    /// `suspended`: the page is not shown yet.
    explicit TableState(bool suspended) : suspended_(suspended) {}

    [[nodiscard]] bool suspended() const { return suspended_; }
    [[nodiscard]] bool closed() const { return closed_; }
    /// Whether nothing may be granted.
    [[nodiscard]] bool stopped() const { return suspended_ || unsettled_ || closed_; }
    /// Returns why a closed table grants nothing.
    [[nodiscard]] Error end_error() const {
        if (cut_off_) return cut_off_error();
        return {ErrorCode::closed, "the tab was closed"};
    }

    void suspend() { suspended_ = true; }
    /// Returns false if it was not suspended.
    bool resume() { return std::exchange(suspended_, false); }
    /// Notes that the database has vanished.
    void lose_store() { unsettled_ = true; }
    /// Notes that new documents have the same lock manager, so that locks exclude them.
    void settle_store() { unsettled_ = false; }
    /// Notes that new documents have another lock manager. Must be followed by close(). Does
    /// nothing if the table is closed.
    void cut_off() { cut_off_ |= !closed_; }
    /// Returns false if it was closed already.
    bool close() { return !std::exchange(closed_, true); }

  private:
    bool suspended_;
    bool unsettled_ = false;
    bool closed_ = false;
    bool cut_off_ = false;
};

}  // namespace tabacus
