// Callbacks for one kind of event, registered and withdrawn in any order, also during an event.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tabacus/task.hpp"

namespace tabacus::browser {

template <typename Event>
class Listeners {
 public:
    using Callback = std::function<void(const Event&)>;

    Subscription add(Callback callback) {
        const int id = ++state_->last_id;
        state_->entries.emplace_back(id, std::move(callback));
        return Subscription([state = state_, id] {
            std::erase_if(state->entries, [id](const auto& entry) { return entry.first == id; });
        });
    }

    [[nodiscard]] bool empty() const { return state_->entries.empty(); }

    /// Calls those registered when it begins, except who is withdrawn meanwhile.
    void emit(const Event& event) const {
        const auto keep_alive = state_;
        const auto entries = keep_alive->entries;
        for (const auto& [id, callback] : entries) {
            if (keep_alive->has(id)) callback(event);
        }
    }

 private:
    struct State {
        std::vector<std::pair<int, Callback>> entries;
        int last_id = 0;

        [[nodiscard]] bool has(int id) const {
            return std::any_of(entries.begin(), entries.end(),
                               [id](const auto& entry) { return entry.first == id; });
        }
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace tabacus::browser
