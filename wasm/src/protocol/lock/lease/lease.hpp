// LeaseLock: where there are no Web Locks, a lease in IndexedDB with the same epochs.
//
// The lock's row names the holder and counts its renewals, the heartbeats. A tab that sees the same
// holder and count for the whole length of the lease, by its own timer and not by any clock, may
// take the lease over. That begins a new epoch, so that a holder that was merely slow finds its
// writes refused. Leases of hidden tabs are longer, because their timers run once a minute
// (docs/decisions/0007).
//
// A second row, the line, lists the tabs that wait, in the order of their requests, and the
// readers. (A reader is a tab that holds the lock shared.) Readers of several tabs hold one epoch
// together. Each of them renews it, and the last reader ends it. The line puts waiters in order,
// and shows which reader is the last. Only the lock's row excludes other tabs: if the line is lost
// or cannot be read, a waiter loses its position, or readers wait until a lease runs out. A waiter
// without a heartbeat is overtaken.
//
// A tab that releases the lock announces its departure at once, even from within `pagehide`, where
// no transaction can be awaited. A tab that receives the announcement takes the lock over although
// the row still names the former holder. A tab that is opened later finds the departure in
// localStorage. Both are safe, because the next holder begins a new epoch.
//
// A waiter does not rely on heartbeats alone, because timers of a hidden tab are slow, but messages
// are not. Once a heartbeat is late, the waiter asks that tab whether it lives. While that tab
// answers, its lease does not run out. A tab that does not answer for a while is presumed dead,
// even if its lease is longer (lease_blockers.hpp). A waiter that does not receive its own messages
// relies on the leases alone.
//
//   state      the tab's entry in the line   meaning                       what ends the state
//   outside    none                          acquire() has not begun       try_now(): holding, or
//                                                                          waiting unless the
//                                                                          request is `ifAvailable`
//   waiting    waits                         another tab holds the lock,   try_now(): holding
//                                            or is before this one         cancel(): outside
//   holding    none, or reads                the row names this tab, or    release(), or a renewal
//                                            the epoch of readers that     that is fenced: outside
//                                            this tab belongs to
//
// It is weaker than Web Locks in one way: a holder that dies is noticed only after some seconds.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lease_blockers.hpp"
#include "protocol/lock/native_lock.hpp"
#include "waiting_line.hpp"

namespace tabacus {

class LeaseLock final : public NativeLock {
  public:
    LeaseLock(LockContext& context, std::string key) : context_(context), key_(std::move(key)) {}

    Task<std::shared_ptr<NativeHold>> acquire(NativeRequest request) override;
    void cancel() override;
    void release(const std::shared_ptr<NativeHold>& hold) override;
    void on_possible_release() override;
    void on_report(const LockMessage& message) override { blockers_.on_report(message); }
    [[nodiscard]] bool first_in_line() const override { return true; }
    Task<bool> query_other_waiters(bool is_next) override;
    Task<bool> is_known_to_wait() override { co_return waits_; }

  private:
    Task<WaitingLine> read_line(Transaction& transaction);
    Task<WaitingLine> load_line();

    Task<std::shared_ptr<NativeHold>> try_now(NativeRequest request, std::string id,
                                              Blockers& blockers);
    [[nodiscard]] bool free(const std::optional<LockRow>& row, const WaitingLine& line) const;
    [[nodiscard]] Blockers find_blockers(const std::optional<LockRow>& row, const WaitingLine& line,
                                         const NativeRequest& request, std::string_view id) const;
    Task<LockTokens> enter(Transaction& transaction, const std::optional<LockRow>& row,
                           WaitingLine& line, NativeRequest request);
    [[nodiscard]] bool is_read(const std::optional<LockRow>& row, const WaitingLine& line) const;
    [[nodiscard]] bool dead(const LineEntry& entry) const;
    void join_line(WaitingLine& line, const NativeRequest& request, const std::string& id);
    void add_reader(WaitingLine& line, const std::string& id) const;
    Task<void> leave_line(std::string id);
    void announce_departure(const std::string& id);
    /// Sleeps until something happens, for `delay_ms` at most.
    Task<void> wait(double delay_ms);
    Task<void> renew(std::weak_ptr<NativeHold> hold);
    Task<void> renew_once(std::shared_ptr<NativeHold> hold);
    Task<void> give_back(std::shared_ptr<NativeHold> hold);
    Task<void> end_lease(std::shared_ptr<NativeHold> hold);
    [[nodiscard]] std::int64_t lease_ms() const;

    LockContext& context_;
    std::string key_;
    bool cancelled_ = false;
    Completer<Unit> wake_signal_;
    LeaseBlockers blockers_{context_, key_, wake_signal_};
    std::int64_t heartbeats_ = 0;          // of this tab in the line
    std::string waiting_;                  // the entry of this tab's waiter in the line
    bool waits_ = false;                   // between two attempts to enter
    bool departures_read_ = false;         // whether those in localStorage were read once
    std::vector<std::string> departures_;  // the keys of those that were read last
};

}  // namespace tabacus
