// What threads.wasm has of shared memory beside its C++ threads: JavaScript calls attach.wasm for all else.
#ifdef __EMSCRIPTEN_PTHREADS__

#include <cstdint>
#include <cstdlib>

#include "sync/main_arena.hpp"

namespace tabacus::sync {

Arena& main_arena() { return *reinterpret_cast<Arena*>(main_arena_begin); }

}  // namespace tabacus::sync

// Memory for a segment (segment.hpp); 0 if there is none left. Never freed.
extern "C" __attribute__((used)) void* segment_alloc(std::uint32_t bytes) {
    return std::malloc(bytes);
}

#endif
