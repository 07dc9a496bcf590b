// Web Locks, through js/host/locks.js, where a lock is known by the number of its request.
#pragma once

#include <emscripten/val.h>

#include <memory>

#include "browser/operations.hpp"
#include "tabacus/world.hpp"

namespace tabacus::browser {

class BrowserLocks final : public Locks {
 public:
    BrowserLocks(emscripten::val host, Operations& operations)
        : host_(std::move(host)), operations_(operations) {}

    [[nodiscard]] bool available() const override;
    Async<std::unique_ptr<HeldLock>> request(LockRequest request) override;
    Async<LockSnapshot> query() override;

    /// The host says that another context stole the lock of that request.
    void lost(int id) const;

 private:
    using Lost = std::function<void()>;
    struct Held;

    emscripten::val host_;
    Operations& operations_;
    std::shared_ptr<std::vector<Held*>> held_ = std::make_shared<std::vector<Held*>>();
};

}  // namespace tabacus::browser
