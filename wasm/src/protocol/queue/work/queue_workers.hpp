// QueueWorkers: the workers of this tab, one for each slot of the queue.
//
//   state of a worker   meaning                                  what ends the state
//   waiting             it has requested the slot's lock         the grant: serving; stop(): ended;
//                                                                a failure: pausing
//   serving             it has the slot (slot_server.hpp)        nothing is left to do: asleep, or
//                                                                waiting if it was woken meanwhile;
//                                                                a failure: pausing
//   asleep              there was nothing to do                  WorkSignal::wake(): waiting, or
//                                                                ended after stop()
//   pausing             its store or its lock failed             after_failure_ms: waiting, or
//                                                                ended after stop()
//   ended               the slot has no worker in this tab       start(): waiting
#pragma once

#include "../outcomes/queue_poller.hpp"
#include "slot_server.hpp"

namespace tabacus {

class QueueWorkers {
  public:
    struct Parts {
        OpenQueue& open;
        QueueStatus& status;
        AwaitedOutcomes& awaited;
        JobRuns& runs;
        WorkSignal& signal;
        QueueNews& news;
        HandledKinds& kinds;
        QueuePoller& poller;
    };
    explicit QueueWorkers(const Parts& parts)
        : parts_(parts),
          slots_(parts.open),
          server_({parts.open, parts.status, parts.awaited, parts.runs, parts.signal, parts.news,
                   parts.kinds, slots_}) {}

    /// Takes part in the work on the kinds that this tab handles.
    void start();
    /// Does what Queue::stop() does.
    void stop();
    /// Does what Queue::leave() does.
    Task<void> leave();

  private:
    Task<void> work(int slot);

    Parts parts_;
    WorkerSlots slots_;
    SlotServer server_;
};

}  // namespace tabacus
