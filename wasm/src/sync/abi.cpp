// The same exports in the main module, which also owns the arena.
#ifdef __EMSCRIPTEN_PTHREADS__

#include "attach/abi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "sync/main_arena.hpp"

namespace tabacus::sync {
namespace {

// Room for about 500 striped counters, or 4,000 of the others, or 250 attached workers.
constexpr std::uint32_t arena_bytes = 1U << 20;

alignas(Arena) std::array<std::byte, arena_bytes> room;

}  // namespace

Arena& main_arena() {
    static Arena& arena = *new (room.data()) Arena(arena_bytes);
    return arena;
}

}  // namespace tabacus::sync

TABACUS_EXPORT(tabacus::sync::Arena*, arena_root)() { return &tabacus::sync::main_arena(); }

#endif
