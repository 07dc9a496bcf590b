// FakeLock: a held lock without a lock manager.
#pragma once

#include <utility>

#include "tabacus/common/world.hpp"

namespace tabacus::test {

/// A lock that notes whether it is held, and can be stolen.
class FakeLock final : public HeldLock {
  public:
    explicit FakeLock(bool& held) : held_(held) { held_ = true; }
    FakeLock(const FakeLock&) = delete;
    FakeLock& operator=(const FakeLock&) = delete;
    FakeLock(FakeLock&&) = delete;
    FakeLock& operator=(FakeLock&&) = delete;
    ~FakeLock() override { held_ = false; }
    void on_lost(Function<void()> callback) override { on_lost_ = std::move(callback); }
    void steal() const { on_lost_(); }

  private:
    bool& held_;
    Function<void()> on_lost_;
};

}  // namespace tabacus::test
