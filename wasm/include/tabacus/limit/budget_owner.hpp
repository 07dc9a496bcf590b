// BudgetOwner: what a budget needs from its tab.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore;

struct BudgetOwner {
    World& world;
    LimitStore& store;
    const std::string& tab;  // the tab's identifier
    /// Acquires the tab's liveness lock if the platform has locks.
    Function<Task<void>()> hold_liveness;
    /// Returns the tabs that hold a liveness lock; nothing without Web Locks.
    Function<Task<std::optional<std::set<std::string>>>()> live_tabs;
    /// Sends other tabs what is used of the budget, or with `recall` asks them to put rights back.
    Function<void(bool recall, std::int64_t used)> broadcast;
};

}  // namespace tabacus
