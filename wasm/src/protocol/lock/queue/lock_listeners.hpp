// LockListeners: the callbacks of one tab that watch a lock.
#pragma once

#include <string>
#include <utility>

#include "protocol/common/change_listeners.hpp"

namespace tabacus {

class LockListeners {
  public:
    Subscription on_change(Function<void()> callback) { return changes_.add(std::move(callback)); }
    Subscription on_broadcast(Function<void(const std::string&)> callback) {
        return broadcasts_.add(std::move(callback));
    }
    /// Whether a callback watches the lock for changes.
    [[nodiscard]] bool watched() const { return !changes_.empty(); }
    /// Whether a callback listens for changes or broadcasts.
    [[nodiscard]] bool any() const { return watched() || !broadcasts_.empty(); }
    /// Reports that the lock was taken, released or lost. Also calls the callbacks of broadcasts,
    /// with an empty text, because a broadcast may have been missed.
    void changed() const {
        changes_.call();
        broadcasts_.emit({});
    }
    /// Reports that a request waits.
    void waits() const { changes_.call(); }
    void broadcast(const std::string& about) const { broadcasts_.emit(about); }

  private:
    ChangeListeners changes_;
    Listeners<std::string> broadcasts_;
};

}  // namespace tabacus
