#pragma once

#include <cstdint>

#include "tabacus/sync/mutex.hpp"

// A function that runs once over all threads, as by std::call_once.
//
// Promises: when a call returns, the function has run to its end, in this call or an earlier one. If
// it throws, it counts as not run, and the next caller runs it. So does the next caller if the
// thread that runs it dies; the function may then have done a part of its work.
//
// The state is a mutex, which the thread that runs the function holds, and one more word:
//
//   done   mutex   meaning
//   0      free    the function has not run
//   0      held    a thread runs it, or is about to look whether it has run
//   1      any     the function has run; no call acquires the mutex any more

namespace tabacus::sync {

enum class CallResult : std::uint32_t {
    ran = 0,             // this call has run the function
    done = 1,            // another call had run it
    would_deadlock = 2,  // the function calls itself
};

template <class Parks = PlatformParker>
class BasicOnceFlag {
  public:
    /// Runs `function()`, unless it has run. Sleeps while another thread runs it.
    template <class Function>
    CallResult call(Owner self, Function function) {
        if (done()) return CallResult::done;
        const Held held(mutex_, self, true);
        if (!held.acquired) return CallResult::would_deadlock;
        if (done()) return CallResult::done;
        function();
        done_.store(1);
        return CallResult::ran;
    }

    [[nodiscard]] bool done() const { return done_.load() != 0; }

    /// Notes that a thread has died. The next caller runs the function if that thread ran it.
    void owner_died(Owner dead) { mutex_.owner_died(dead); }

  private:
    BasicMutex<Parks> mutex_;                        // 0
    Parks::template Atomic<std::uint32_t> done_{0};  // 8
};

using OnceFlag = BasicOnceFlag<>;
static_assert(sizeof(OnceFlag) == 12, "as js/threads/shared-once.js assumes");

}  // namespace tabacus::sync
