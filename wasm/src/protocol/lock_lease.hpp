// LeaseTurnstile: where there are no Web Locks, a lease in IndexedDB with the same epochs.
//
// The lock's row says who holds it and counts the holder's renewals. Who sees the same holder and
// count for the whole length of the lease, by its own timer and not by any clock, may take it over:
// that begins a new epoch, so that a holder who was merely slow finds its writes refused. Leases of
// hidden tabs are longer, because their timers run once a minute (DESIGN §1).
//
// Weaker than Web Locks in three ways: a dead holder is noticed only after its lease; whoever asks
// next after a release gets it, not who waited longest; shared requests of different tabs exclude
// each other (those of one tab do not).
#pragma once

#include <memory>

#include "lock_queue.hpp"

namespace tabacus {

class LeaseTurnstile final : public Turnstile {
  public:
    LeaseTurnstile(LockContext& context, std::string key)
        : context_(context), key_(std::move(key)) {}

    Task<std::shared_ptr<Possession>> take(Wish wish) override;
    void cancel() override;
    void let_go(const std::shared_ptr<Possession>& possession) override;
    void nudge() override { bell_.complete({}); }
    [[nodiscard]] bool first_in_line() const override { return true; }

  private:
    /// Another's lease, as it was seen.
    struct Seen {
        std::string state;
        double lease_ms = 0;
    };
    Task<std::shared_ptr<Possession>> try_now(Wish wish, Seen& seen);
    /// True when it slept all of `delay_ms`, false when it was woken.
    Task<bool> wait(double delay_ms);
    Task<void> renew(std::weak_ptr<Possession> possession);
    Task<void> renew_once(std::shared_ptr<Possession> possession);
    Task<void> give_back(LockTokens tokens);
    Task<void> end_lease(LockTokens tokens);
    [[nodiscard]] std::int64_t lease_ms() const;

    LockContext& context_;
    std::string key_;
    bool cancelled_ = false;
    Completer<Unit> bell_;
    std::string stale_;  // the holder and count that were seen for a whole lease
};

}  // namespace tabacus
