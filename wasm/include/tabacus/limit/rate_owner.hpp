// RateOwner: what a rate limit needs from its tab.
#pragma once

#include <string>

#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore;

struct RateOwner {
    World& world;
    LimitStore& store;
    std::string witness;  // the name of the lock that every witness holds
    /// Sends other tabs a message: true asks for the time, false says that the row has changed.
    Function<void(bool)> broadcast;
};

}  // namespace tabacus
