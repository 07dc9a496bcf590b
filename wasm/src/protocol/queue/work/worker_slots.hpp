// WorkerSlots: the slots that have a worker in this tab, and the requests for their locks.
//
//   state      meaning                                      what ends the state
//   free       no worker of this tab serves the slot        occupy(): occupied
//   occupied   one worker of this tab serves it, or waits   release(): free
//              for its lock
#pragma once

#include <vector>

#include "../open_queue.hpp"

namespace tabacus {

class WorkerSlots {
  public:
    explicit WorkerSlots(OpenQueue& open) : open_(open) {}

    /// Returns false if the slot has a worker already.
    bool occupy(int slot);
    void release(int slot);
    [[nodiscard]] bool empty() const { return occupied_.empty(); }
    /// Waits for the next release().
    Async<Unit> next_release();

    /// Requests the lock of a slot.
    Task<Held> request(int slot);
    /// Lets requests wait again after stop_requests().
    void start_requests() { stopped_ = AbortSignal(); }
    /// Aborts the requests that wait, and those that follow.
    void stop_requests() const;

  private:
    OpenQueue& open_;
    std::vector<int> occupied_;
    std::vector<Completer<Unit>> waiting_;  // for a release
    AbortSignal stopped_;
};

}  // namespace tabacus
