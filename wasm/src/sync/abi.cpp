// The exports of threads.wasm for shared memory. JavaScript calls attach.wasm for everything else.
#ifdef __EMSCRIPTEN_PTHREADS__

#include <cstdint>
#include <cstdlib>

#include "sync/main_arena.hpp"

namespace tabacus::sync {

Arena& main_arena() { return *reinterpret_cast<Arena*>(main_arena_begin); }

}  // namespace tabacus::sync

// Returns memory for a segment (segment.hpp), which is never freed; 0 if there is none left.
extern "C" __attribute__((used)) void* segment_alloc(std::uint32_t bytes) {
    return std::malloc(bytes);
}

#endif
