// Callbacks for one kind of event, registered and withdrawn in any order, also during an event.
#pragma once

#include <list>
#include <memory>
#include <utility>

#include "tabacus/common/task.hpp"

namespace tabacus {

/// What all kinds of event have in common. An event is a pointer here: one body of code instead of
/// four.
class ListenersBase {
  public:
    [[nodiscard]] bool empty() const { return state_->entries.empty(); }

  protected:
    using Callback = Function<void(const void*)>;
    Subscription add(Callback callback);
    /// Calls those registered when it begins, except those withdrawn meanwhile.
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
