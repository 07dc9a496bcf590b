// AutoResetEvent: wakes the one coroutine that waits for it. Events that are set before the wait
// are not lost, and several of them count as one.
//
//   state     set()                         wait()
//   unset     set; resumes the waiter       suspends until set()
//   set       stays set                     returns at once, and the event is unset
//
// The waiter is resumed within set(). The event is unset before the waiter goes on.
#pragma once

#include "tabacus/common/task.hpp"

namespace tabacus {

class AutoResetEvent {
  public:
    void set();
    Task<void> wait();

  private:
    bool set_ = false;
    Completer<Unit> signal_;
};

}  // namespace tabacus
