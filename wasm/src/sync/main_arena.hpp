#pragma once

#include "tabacus/sync/arena.hpp"

namespace tabacus::sync {

/// The arena of this module's memory. First called on the main thread, by `arena_root`.
Arena& main_arena();

}  // namespace tabacus::sync
