// HolderCheck: asks the holder of a lock whether it lives, for requests with `evict_unresponsive`.
//
// Timers of hidden tabs may run only once a minute, but messages are delivered at once. So a holder
// is not expected to do anything by a timer; it only has to answer. A holder that does not answer
// is evicted (LockEvictor).
//
//   state     meaning                                     what ends the state
//   idle      no request of this tab waits for the lock   start(): waiting
//             of another tab
//   waiting   most waits are over soon                    ask_every_ms are over: asking
//   asking    a question was posted                       on_sign(): standby, or asking again if
//                                                         this tab is the checker
//                                                         no sign in ask_every_ms: evicting
//   evicting  the lock is taken from its holder           done: asking, for the next holder
//   standby   another tab is the checker                  became_visible(), or this tab becomes
//                                                         the checker: asking
//
// The end of the wait leads from each state to idle. Only one waiting tab, the checker, asks again
// and again. It is the visible tab that has the checker lock; if there is none, it is the next in
// line. Each other tab asks once when it has waited for a while, and whenever it becomes visible,
// because the checker may be suspended itself. If both the checker and the holder are suspended
// after these questions, no tab asks until one becomes visible or begins to wait.
#pragma once

#include <memory>

#include "auto_reset_event.hpp"
#include "lock_evictor.hpp"

namespace tabacus {

class HolderCheck {
  public:
    HolderCheck(NamedLock& lock, const RequestQueue& requests, const NativeHolds& holds,
                LockEvictor& evictor)
        : lock_(lock), requests_(requests), holds_(holds), evictor_(evictor) {}

    /// Begins to check, because this tab acquires the lock or has made another request meanwhile.
    void start();
    /// Ends the checks, because this tab does not acquire the lock any more.
    void end();
    /// Notes that this tab is the next in line.
    void wake() { wake_.set(); }
    void became_hidden() { stand_down(); }
    void became_visible();
    /// Notes a message of another tab which shows that a holder lives.
    void on_sign() { ++signs_; }
    /// Notes that a holder has answered the question of this tab or of another one.
    void on_alive() {
        asks_all_ = false;
        on_sign();
    }
    /// Notes that another tab announced a grant. That tab may be of a version without near
    /// channels.
    void on_taken() {
        asks_all_ = true;
        on_sign();
    }
    /// Whether this tab waits for an answer.
    [[nodiscard]] bool asking() const { return asking_; }

  private:
    [[nodiscard]] bool wanted() const;
    [[nodiscard]] bool is_checker() const;
    Task<void> run();
    Task<double> ask(double wait_ms);
    Task<void> pause(double delay_ms);
    Task<void> wait_to_check(AbortSignal over);
    void stand_down();

    NamedLock& lock_;
    const RequestQueue& requests_;
    const NativeHolds& holds_;
    LockEvictor& evictor_;
    AutoResetEvent wake_;
    bool running_ = false;
    bool asking_ = false;
    bool due_ = false;      // whether to ask once although this tab is not the checker
    bool asks_all_ = true;  // whether to ask all tabs: the holder may not listen to near channels
    std::uint64_t signs_ = 0;
    bool stands_by_ = false;  // this tab has the checker lock, or has requested it
    AbortSignal wait_over_;   // ends that request
    std::unique_ptr<HeldLock> checker_lock_;
};

}  // namespace tabacus
