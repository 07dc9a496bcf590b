// NamedLock: the lock of one name in one tab, as the parts of its queue refer to it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lock_context.hpp"
#include "native_lock.hpp"
#include "queue/auto_reset_event.hpp"

namespace tabacus {

struct NamedLock {
    NamedLock(LockContext& of, Scope& of_queue, std::string escaped_name, std::string given_name)
        : context(of), scope(of_queue), key(std::move(escaped_name)), name(std::move(given_name)) {}

    LockContext& context;
    Scope& scope;     // of the queue: what runs in it ends before the queue
    std::string key;  // the escaped name
    std::string name;
    std::unique_ptr<NativeLock> native = nullptr;
    AutoResetEvent wake;  // wakes the queue's driver

    [[nodiscard]] Clock& clock() const { return context.world.clock(); }
    /// Whether Web Locks exclude other tabs.
    [[nodiscard]] bool has_web_locks() const { return context.world.locks().available(); }
    void spawn(Task<void> task) const { scope.spawn(std::move(task)); }
    void post(LockMessage::Kind kind, std::vector<std::string> detail = {}) const {
        context.messages.post(kind, key, std::move(detail));
    }
    /// Receives what is posted near the lock, while this tab is near it.
    void listen_near() const { context.messages.listen_near(key); }
    /// Posts to the tabs near the lock.
    void post_near(LockMessage::Kind kind, std::vector<std::string> detail = {}) const {
        context.messages.post_near(kind, key, std::move(detail));
    }
};

}  // namespace tabacus
