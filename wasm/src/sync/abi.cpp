// The exports of attach_abi.hpp in threads.wasm, which also owns the arena.
#ifdef __EMSCRIPTEN_PTHREADS__

#include "attach/attach_abi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "sync/main_arena.hpp"

namespace tabacus::sync {
namespace {

// A name takes 512 bytes, that of a striped counter 2.5 KiB.
constexpr std::uint32_t names_bytes = 1U << 20;
constexpr std::uint32_t agents_max = 1 + 254;  // the page, and those that attach

alignas(Arena) std::array<std::byte, names_bytes + agents_max * sizeof(Agent)> arena_memory;

}  // namespace

Arena& main_arena() {
    static Arena& arena = *new (arena_memory.data()) Arena(names_bytes, agents_max);
    return arena;
}

}  // namespace tabacus::sync

TABACUS_EXPORT(tabacus::sync::Arena*, arena_root)() { return &tabacus::sync::main_arena(); }

// Memory for a segment (segment.hpp); 0 if there is none left. Never freed.
TABACUS_EXPORT(void*, segment_alloc)(std::uint32_t bytes) { return std::malloc(bytes); }

// Locks over tabs: the page's side (tab_request.hpp).

TABACUS_EXPORT(tabacus::sync::TabBell*, request_bell)(tabacus::sync::Arena* arena) {
    return &arena->tab_bell();
}

TABACUS_EXPORT(void, request_end)(tabacus::sync::Arena* arena) { arena->tab_bell().end(); }

// 0 after the last, the first after 0.
TABACUS_EXPORT(tabacus::sync::TabRequest*, request_next)
(tabacus::sync::Arena* arena, const tabacus::sync::TabRequest* before) {
    return arena->next_tab_request(before);
}

TABACUS_EXPORT(std::uint32_t, request_grant)(tabacus::sync::TabRequest* request, double token) {
    return request->grant(static_cast<std::int64_t>(token)) ? 1 : 0;
}

TABACUS_EXPORT(std::uint32_t, request_refuse)(tabacus::sync::TabRequest* request,
                                              std::uint32_t reason) {
    return request->refuse(reason) ? 1 : 0;
}

TABACUS_EXPORT(std::uint32_t, request_lose)(tabacus::sync::TabRequest* request) {
    return request->lose() ? 1 : 0;
}

TABACUS_EXPORT(tabacus::sync::TabTask, request_task)
(tabacus::sync::TabRequest* request, tabacus::sync::TabHas has) { return request->next_task(has); }

TABACUS_EXPORT(std::uint32_t, request_exit)
(tabacus::sync::TabRequest* request, std::uint32_t agent) {
    return request->report_exit(agent) ? 1 : 0;
}

#endif
