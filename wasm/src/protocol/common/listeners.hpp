// Listeners: callbacks for one kind of event. They may be added and removed in any order, also
// while an event is emitted.
#pragma once

#include <list>
#include <memory>
#include <utility>

#include "tabacus/common/task.hpp"

namespace tabacus {

/// The part that does not depend on the type of the event. It handles an event as an untyped
/// pointer, so that all types share one copy of the code.
class ListenersBase {
  public:
    [[nodiscard]] bool empty() const { return state_->entries.empty(); }

  protected:
    using Callback = Function<void(const void*)>;
    Subscription add(Callback callback);
    /// Calls each callback that is registered when the call begins, unless it is removed before its
    /// turn.
    void emit(const void* event) const;

  private:
    struct State : Counted {
        std::list<std::pair<int, Callback>> entries;
        int last_id = 0;
        [[nodiscard]] bool has(int id) const;
    };
    Shared<State> state_{std::make_unique<State>()};
};

template <typename Event>
class Listeners : public ListenersBase {
  public:
    Subscription add(Function<void(const Event&)> callback) {
        return ListenersBase::add([callback = std::move(callback)](const void* event) {
            callback(*static_cast<const Event*>(event));
        });
    }
    void emit(const Event& event) const { ListenersBase::emit(&event); }
};

}  // namespace tabacus
