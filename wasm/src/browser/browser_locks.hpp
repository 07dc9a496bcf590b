// Web Locks, through js/host/web-locks.js, which knows a lock by the operation that requested it.
#pragma once

#include <memory>

#include "browser/core/operations.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserLocks final : public Locks {
  public:
    explicit BrowserLocks(Operations& operations) : operations_(operations) {}

    [[nodiscard]] bool available() const override { return host::locks_available(); }
    Async<std::unique_ptr<HeldLock>> request(LockRequest request) override;
    Async<LockSnapshot> query() override;

    /// The host reports that another context stole the lock.
    void lost(int id) const;

  private:
    struct Held;

    Operations& operations_;
    std::shared_ptr<std::vector<Held*>> held_ = std::make_shared<std::vector<Held*>>();
};

}  // namespace tabacus::browser
