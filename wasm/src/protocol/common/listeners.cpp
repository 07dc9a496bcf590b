#include "listeners.hpp"

#include <algorithm>

namespace tabacus {

bool ListenersBase::State::has(int id) const {
    return std::any_of(entries.begin(), entries.end(),
                       [id](const auto& entry) { return entry.first == id; });
}

Subscription ListenersBase::add(Callback callback) {
    const int id = ++state_->last_id;
    state_->entries.emplace_back(id, std::move(callback));
    return Subscription([state = state_, id] {
        std::erase_if(state->entries, [id](const auto& entry) { return entry.first == id; });
    });
}

void ListenersBase::emit(const void* event) const {
    const auto keep_alive = state_;
    const auto entries = keep_alive->entries;
    for (const auto& [id, callback] : entries) {
        if (keep_alive->has(id)) callback(event);
    }
}

}  // namespace tabacus
