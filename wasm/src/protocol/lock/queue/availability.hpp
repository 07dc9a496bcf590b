// Availability: whether a lock is available, for requests that do not wait (`ifAvailable`).
//
// A lock that another tab merely keeps in its grace period is available: that tab releases it when
// it receives this tab's request. Its message about the release may arrive before the browser knows
// of the release. So acquire() requests the native lock again after every message about a release,
// and once more when no answer of another tab can come any more.
//
//   state      refused()   busy()   meaning                             what ends the state
//   asking     false       false    the native lock is requested        granted, or refused for the
//                                                                       last time: acquire() ends
//                                                                       else: refused
//   refused    true        false    another tab may still answer        on_release(): asking
//                                                                       on_busy(): busy
//                                                                       end_answers(): asking
//   busy       either      true     another tab uses the lock           forget_answers()
#pragma once

#include <memory>

#include "protocol/lock/named_lock.hpp"

namespace tabacus {

class Availability {
  public:
    explicit Availability(NamedLock& lock) : lock_(lock) {}

    /// Acquires the native lock if it is available within the time that answers take. Returns
    /// nothing if it is not.
    Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request);
    /// Whether acquire() was refused, and will request the native lock again.
    [[nodiscard]] bool refused() const { return refused_; }
    /// Whether another tab answered this tab's request: the lock is in use.
    [[nodiscard]] bool busy() const { return busy_; }
    void forget_answers() { busy_ = false; }

    /// Notes that another tab answered this tab's request: the lock is in use.
    void on_busy();
    /// Notes that another tab released the lock.
    void on_release() const { answered_.complete({}); }

  private:
    Task<void> end_answers(std::shared_ptr<bool> over);

    NamedLock& lock_;
    bool busy_ = false;
    bool refused_ = false;
    Completer<Unit> answered_;
};

}  // namespace tabacus
