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
// A blocker is identified by its identifier together with its count of heartbeats. After a
// heartbeat it is therefore another blocker, which is young again. Time is counted in steps of this
// tab's own timer: a step counts the same even if the timer fires late.
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
    double left_ms = 0;    // how long until it is stale, without a heartbeat or an answer
    double silent_ms = 0;  // how long it has not answered

    [[nodiscard]] bool stale() const { return left_ms <= 0 || silent_ms >= silent_max_ms; }
    [[nodiscard]] bool must_answer() const { return lease_ms - left_ms >= ask_after_ms; }

    /// A blocker without a heartbeat for this long is asked whether it lives.
    static constexpr double ask_after_ms = 2'500;
    /// A blocker that has not answered for this long is stale, however long its lease is.
    static constexpr double silent_max_ms = 10'000;
};
/// By identifier and count of heartbeats, as one text.
using Blockers = std::map<std::string, Blocker>;

class LeaseBlockers {
  public:
    /// `wake` is completed when a blocker becomes stale. The arguments must outlive this. `key` is
    /// the lock's escaped name.
    LeaseBlockers(LockContext& context, const std::string& key, const Completer<Unit>& wake)
        : context_(context), key_(key), wake_(wake) {}

    /// Remembers blockers that a request of this tab has found. The time of a blocker that was
    /// remembered before goes on.
    void remember(const Blockers& blockers);
    [[nodiscard]] bool stale(const std::string& state) const;
    /// Notes that another tab reported its requests, those that hold the lock first. Its blockers
    /// are young again. If it holds the lock, all holders are: the row of a shared lease names only
    /// one of them, perhaps another one.
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
