// ChangeListeners: callbacks that are called when a value or a lock may have changed.
#pragma once

#include <utility>

#include "listeners.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class ChangeListeners : public ListenersBase {
  public:
    Subscription add(Function<void()> callback) {
        return ListenersBase::add([callback = std::move(callback)](const void*) { callback(); });
    }
    /// Calls every callback. A callback may add and remove callbacks.
    void call() const { emit(nullptr); }
};

}  // namespace tabacus
