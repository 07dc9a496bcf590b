#pragma once

#include <cstdint>

#include "tabacus/sync/arena.hpp"

// The arena in the memory of threads(). It is at a fixed address, below the static data of
// threads.wasm, so that the page can make it with attach.wasm alone; threads.wasm starts later, or
// never. cmake/wasm.cmake sets the address where that data begins.

namespace tabacus::sync {

/// The address of the arena. It is not 0, because 0 stands for no address.
inline constexpr std::uint32_t main_arena_begin = 1024;

/// The number of agents: the page, and 254 threads that attach.
inline constexpr std::uint32_t agents_max = 1 + 254;

/// The space for names and objects, which is what agents leave. A name takes 512 bytes with its
/// object, or 2.5 KiB if that is a striped counter.
inline constexpr std::uint32_t names_bytes =
    TABACUS_MAIN_ARENA_END - main_arena_begin - agents_max * sizeof(Agent);
static_assert(main_arena_begin % line_bytes == 0 && names_bytes % line_bytes == 0);
static_assert(names_bytes < TABACUS_MAIN_ARENA_END, "agents do not take all of the space");

/// Returns the arena, for C++ threads. Requires that `arena_make` of attach.wasm has made it.
Arena& main_arena();

}  // namespace tabacus::sync
