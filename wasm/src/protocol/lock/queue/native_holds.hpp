// NativeHolds: the native holds that this tab has of one lock, and the grants under them. A tab has
// at most one native hold that it acquired in turn, which is the current one. It also has any
// number of native holds that it stole, each for one grant.
//
//   state       acquiring()   current()   in_use()   what ends the state
//   none        false         none        false      the driver: set_acquiring()
//   acquiring   true          none        false      the driver: set_acquiring(), adopt()
//   holding     false         set         true       the last release(); lose()
//   grace       false         set         false      grant(); the driver: end(); lose()
//
// A stolen hold begins with adopt_stolen() in any of these states, and ends with the release of its
// grant, or with lose(). Nothing is granted under a lost hold. Its holders are notified before any
// of their code can run again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contenders.hpp"
#include "lock_listeners.hpp"
#include "protocol/lock/named_lock.hpp"

namespace tabacus {

class NativeHolds {
  public:
    using HoldPtr = std::shared_ptr<NativeHold>;

    NativeHolds(NamedLock& lock, const LockListeners& listeners, const Contenders& contenders)
        : lock_(lock), listeners_(listeners), contenders_(contenders) {}
    /// Sets the pointer by which grants refer to this. Locking it keeps the whole LockQueue alive.
    void set_self(std::weak_ptr<NativeHolds> self) { self_ = std::move(self); }

    [[nodiscard]] const std::string& key() const { return lock_.key; }
    [[nodiscard]] bool acquiring() const { return acquiring_; }
    [[nodiscard]] const HoldPtr& current() const { return current_; }
    /// Whether a caller holds the lock under the current hold.
    [[nodiscard]] bool in_use() const { return current_ && !current_->active.empty(); }
    /// Whether a caller holds the lock under a stolen hold.
    [[nodiscard]] bool stolen_in_use() const;
    /// Whether there is any native hold.
    [[nodiscard]] bool any() const { return current_ || !stolen_.empty(); }
    /// Returns every native hold, stolen ones first.
    [[nodiscard]] std::vector<HoldPtr> all() const;
    /// Returns the grants of this tab, under every native hold of the lock.
    [[nodiscard]] std::vector<std::shared_ptr<Grant>> holders() const;
    /// Returns the mode of the current hold if it is in its grace period, else nothing.
    [[nodiscard]] std::optional<LockMode> idle_mode() const;

    void set_acquiring(bool acquiring) { acquiring_ = acquiring; }
    void adopt(const HoldPtr& hold);
    void adopt_stolen(const HoldPtr& hold);
    std::shared_ptr<Grant> grant(const LockOptions& options, const HoldPtr& hold);
    /// Returns the innermost grant of this lock within which the request was made, or nothing.
    std::shared_ptr<Grant> outer_of(const LockOptions& options);
    /// Makes a grant under the same native hold and with the same token. It is released
    /// independently of `outer`.
    std::shared_ptr<Grant> reenter(const std::shared_ptr<Grant>& outer, const LockOptions& options);

    void release(Grant& grant);
    /// Detaches a grant that was released, once nothing is written under it any more.
    void commit_ended(Grant& grant);
    /// Ends a grant whose maxHold is over, although its timer cannot fire within a long turn.
    void check_max_hold(const std::shared_ptr<Grant>& granted);
    /// Ends a hold that was taken away, or that must not be used any more. Notifies its holders.
    void lose(const HoldPtr& hold, std::string_view reason);
    void lose_all(std::string_view reason);
    /// Ends the current hold, which has no holder: releases it unless it was lost.
    void end(const HoldPtr& hold);

    /// Begins a transaction under the fence of a grant (fenced_transaction.cpp).
    Task<FencedTransaction> begin(std::shared_ptr<Grant> grant, Stores scope,
                                  Durability durability);

  private:
    void begin_hold(const HoldPtr& hold);
    void release_hold(const HoldPtr& hold);
    Task<void> post_released();
    Task<void> limit(std::shared_ptr<Grant> granted, double max_hold_ms);
    void end_grant(const std::shared_ptr<Grant>& granted);
    Task<std::unique_ptr<Transaction>> begin_under(std::shared_ptr<Grant> grant, Stores scope,
                                                   Durability durability);

    NamedLock& lock_;
    const LockListeners& listeners_;
    const Contenders& contenders_;
    std::weak_ptr<NativeHolds> self_;
    bool acquiring_ = false;
    HoldPtr current_;
    std::vector<HoldPtr> stolen_;
};

}  // namespace tabacus
