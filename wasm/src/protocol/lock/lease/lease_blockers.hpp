// LeaseBlockers: the holders and waiters of other tabs that a tab finds before its request for a
// lease, and whether they live.
//
//   state     stale()   meaning                                     what ends the state
//   young     false     it has changed, or its tab has answered,    ask_after_ms are over: asked
//                       not long ago
//   asked     false     its heartbeat is late, and its tab is       on_report(): young
//                       asked whether it lives                      its lease is over, or it is
//                                                                   silent for silent_max_ms: stale
//   stale     true      it is presumed dead, and blocks no more     nothing
//
// A blocker is known by what does not change: an identifier and a count of heartbeats. One that
// changes is therefore another blocker. Time passes by this tab's own timer, in steps: a timer that
// fires late counts no more.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "protocol/lock/lock_context.hpp"

namespace tabacus {

/// A holder or a waiter of another tab that keeps a request waiting.
struct Blocker {
    double lease_ms = 0;
    std::string tab;
    bool holds = false;
    double left_ms = 0;    // until it is stale if it does not change
    double silent_ms = 0;  // for how long it has not answered

    [[nodiscard]] bool stale() const { return left_ms <= 0 || silent_ms >= silent_max_ms; }
    [[nodiscard]] bool must_answer() const { return lease_ms - left_ms >= ask_after_ms; }

    /// A blocker that has not changed for so long is asked.
    static constexpr double ask_after_ms = 2'500;
    /// A blocker that has not answered for so long is stale, however long its lease is.
    static constexpr double silent_max_ms = 10'000;
};
/// By what does not change: an identifier and a count of heartbeats.
using Blockers = std::map<std::string, Blocker>;

class LeaseBlockers {
  public:
    /// `wake` is completed when a blocker becomes stale. The arguments must outlive this. `key` is
    /// the lock's escaped name.
    LeaseBlockers(LockContext& context, const std::string& key, const Completer<Unit>& wake)
        : context_(context), key_(key), wake_(wake) {}

    /// Remembers blockers: one that does not change for the length of its lease is stale, whichever
    /// request of this tab asks meanwhile, and however often.
    void remember(const Blockers& blockers);
    [[nodiscard]] bool stale(const std::string& state) const;
    /// Another tab reported its requests, those that it holds first. A lease may be shared, so that
    /// the row does not name all tabs that hold it.
    void on_report(const LockMessage& message);

  private:
    Task<void> age();
    Task<void> ask();
    [[nodiscard]] double step_ms() const;

    LockContext& context_;
    const std::string& key_;
    const Completer<Unit>& wake_;
    Blockers known_;
    bool aging_ = false;     // age() runs
    bool receives_ = false;  // this tab received its own last message
};

}  // namespace tabacus
