// ObservedValue: the value of a counter as this tab knows it, and the callbacks that observe it.
//
//   state      meaning                                        who may leave the state, and how
//   reported   every callback was called for this value       set(), with another value: changed
//   changed    the callbacks are called at the turn's end     report(): reported
//
// However often the value changes in a turn, its callbacks are called once.
#pragma once

#include <cstdint>
#include <utility>

#include "protocol/common/change_listeners.hpp"

namespace tabacus {

class ObservedValue {
  public:
    [[nodiscard]] std::int64_t get() const { return value_; }
    [[nodiscard]] bool changed() const { return changed_; }

    /// Sets the value. Returns whether it has changed.
    bool set(std::int64_t value) {
        if (value == value_) return false;
        value_ = value;
        changed_ = true;
        return true;
    }
    /// Calls the callbacks if the value was set since the last call. A callback may set it again.
    void report() {
        if (std::exchange(changed_, false)) listeners_.call();
    }
    [[nodiscard]] ChangeListeners& listeners() { return listeners_; }

  private:
    std::int64_t value_ = 0;
    bool changed_ = false;
    ChangeListeners listeners_;
};

}  // namespace tabacus
