// AutoResetEvent: wakes the one coroutine that waits for it. Events that are set before the wait
// are not lost, and several of them count as one.
//
//   state     set()                         wait()
//   unset     set; resumes the waiter       suspends until set()
//   set       stays set                     returns at once, and the event is unset
//
// The waiter is resumed within set(). The event is unset before the waiter goes on. A wait allocates
// nothing, because a lock's driver waits twice for each grant.
#pragma once

#include "tabacus/common/task.hpp"

namespace tabacus {

class AutoResetEvent {
  public:
    /// The wait of one coroutine. A coroutine that is destroyed while it waits waits no more.
    class [[nodiscard]] Wait {
      public:
        explicit Wait(AutoResetEvent& event) : event_(event) {}
        Wait(const Wait&) = delete;
        Wait& operator=(const Wait&) = delete;
        Wait(Wait&&) = delete;
        Wait& operator=(Wait&&) = delete;
        [[gnu::noinline]] ~Wait() { event_.waiter_ = nullptr; }

        [[nodiscard]] bool await_ready() const noexcept { return event_.set_; }
        template <typename Promise>
        void await_suspend(std::coroutine_handle<Promise> waiter) noexcept {
            begin(waiter.promise());
        }
        void await_resume() noexcept { event_.set_ = false; }

      private:
        [[gnu::noinline]] void begin(const detail::Frame& waiter) noexcept {
            event_.waiter_ = &waiter;
        }
        AutoResetEvent& event_;
    };

    void set();
    /// Returns what the coroutine awaits. Only one coroutine may wait at a time.
    Wait wait() { return Wait(*this); }

  private:
    bool set_ = false;
    const detail::Frame* waiter_ = nullptr;
};

}  // namespace tabacus
