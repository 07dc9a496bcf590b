// LeaseLock: where there are no Web Locks, a lease in IndexedDB with the same epochs.
//
// The lock's row names the holder and counts its renewals, the heartbeats. A tab that sees the same
// holder and count for the whole length of the lease, by its own timer and not by any clock, may
// take the lease over. That begins a new epoch, so that a holder that was merely slow finds its
// writes refused. Leases of hidden tabs are longer, because their timers run once a minute
// (docs/decisions/0007).
//
// A second row beside it is the line: the tabs that wait, in the order of asking, and the readers
// that share. Readers of several tabs hold one epoch together, which each of them renews and the
// last one ends. The line is for order, and shows which reader is the last. What excludes is the
// lock's row, so that a line that is lost or nonsense costs a turn, or a lease. A waiter without a
// heartbeat is overtaken.
//
// A tab that releases the lock announces its departure at once, from within `pagehide` too, where
// no transaction can be awaited. A tab that receives this need not wait for the row. A tab that is
// opened later finds the departure in localStorage. That is safe, because it begins a new epoch.
//
// Liveness is asked, too: a tab whose timers are slow answers messages. A waiter asks the tab that it
// waits for once a heartbeat is late. While that tab answers, its lease does not run out; a tab that
// does not answer for a while is presumed dead, also if its lease is longer (lease_blockers.hpp). A
// waiter that does not receive its own messages relies on the leases alone.
//
//   state      the tab's entry in the line   meaning                       what ends the state
//   outside    none                          acquire() has not begun       try_now(): holding, or
//                                                                          waiting unless the request
//                                                                          is `ifAvailable`
//   waiting    waits                         another tab holds the lock,   try_now(): holding
//                                            or is before this one         cancel(): outside
//   holding    none, or reads                the row names this tab, or    release(), or a renewal
//                                            the readers that it is among  that is fenced: outside
//
// Weaker than Web Locks in one way: a holder that dies is noticed only after some seconds.
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
    bool departures_read_ = false;         // those of pages before this one
    std::vector<std::string> departures_;  // the rows of those that were read last
};

}  // namespace tabacus
