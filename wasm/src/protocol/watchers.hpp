// Watchers: the callbacks of a counter, and the value they are called about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tabacus/task.hpp"

namespace tabacus {

class Watchers {
  public:
    Subscription add(std::function<void()> callback) {
        const auto id = ++list_->last_id;
        list_->callbacks.emplace_back(id, std::move(callback));
        return Subscription([weak = std::weak_ptr(list_), id] {
            if (const auto alive = weak.lock()) {
                std::erase_if(alive->callbacks,
                              [id](const auto& entry) { return entry.first == id; });
            }
        });
    }
    [[nodiscard]] bool empty() const { return list_->callbacks.empty(); }
    /// A callback may add and remove others.
    void call() const {
        const auto callbacks = list_->callbacks;
        for (const auto& [id, callback] : callbacks) callback();
    }

  private:
    struct List {
        std::uint64_t last_id = 0;
        std::vector<std::pair<std::uint64_t, std::function<void()>>> callbacks;
    };
    std::shared_ptr<List> list_ = std::make_shared<List>();
};

}  // namespace tabacus
