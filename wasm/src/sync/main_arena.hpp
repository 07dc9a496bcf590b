#pragma once

#include <cstdint>

#include "tabacus/sync/arena.hpp"

// The arena in the memory of threads(). It is at a fixed place, below the static data of
// threads.wasm, so that the page makes it by attach.wasm alone; threads.wasm starts later, or never.
// cmake/wasm.cmake says where that data begins.

namespace tabacus::sync {

/// Not 0, which stands for no address.
inline constexpr std::uint32_t main_arena_begin = 1024;

/// The page, and those that attach.
inline constexpr std::uint32_t agents_max = 1 + 254;

/// What agents leave, for names: one takes 512 bytes, that of a striped counter 2.5 KiB.
inline constexpr std::uint32_t names_bytes =
    TABACUS_MAIN_ARENA_END - main_arena_begin - agents_max * sizeof(Agent);
static_assert(main_arena_begin % line_bytes == 0 && names_bytes % line_bytes == 0);
static_assert(names_bytes < TABACUS_MAIN_ARENA_END, "there is space for more than agents");

/// The arena of the memory, for C++ threads. Requires that `arena_make` of attach.wasm has made it.
Arena& main_arena();

}  // namespace tabacus::sync
