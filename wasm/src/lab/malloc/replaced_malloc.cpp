// Replacements of the C library's allocation functions (GNU C Library manual §3.2.5, "Replacing
// malloc"). While the thread has entered a RunArena, memory comes from the arena, otherwise from
// the C library. The C++ library's operator new, coroutine frames and exceptions all use these
// functions. malloc_usable_size() is not replaced, because nothing in a run calls it.
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "lab/explore/run_arena.hpp"

using tabacus::lab::RunArena;

// NOLINTBEGIN: the C library defines the names and the contracts of these functions.
extern "C" {

void* __libc_malloc(std::size_t bytes) noexcept;
void* __libc_calloc(std::size_t count, std::size_t bytes) noexcept;
void* __libc_realloc(void* pointer, std::size_t bytes) noexcept;
void* __libc_memalign(std::size_t alignment, std::size_t bytes) noexcept;
void __libc_free(void* pointer) noexcept;

void* malloc(std::size_t bytes) noexcept {
    auto* const arena = RunArena::entered();
    return arena != nullptr ? arena->take(bytes) : __libc_malloc(bytes);
}

void* calloc(std::size_t count, std::size_t bytes) noexcept {
    auto* const arena = RunArena::entered();
    if (arena == nullptr) return __libc_calloc(count, bytes);
    std::size_t all = 0;
    if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
    return std::memset(arena->take(all), 0, all);
}

void free(void* pointer) noexcept {
    auto* const arena = RunArena::holding(pointer);
    if (arena != nullptr) {
        arena->give_back(pointer);
    } else {
        __libc_free(pointer);
    }
}

void* realloc(void* pointer, std::size_t bytes) noexcept {
    auto* const arena = RunArena::holding(pointer);
    if (arena == nullptr && (pointer != nullptr || RunArena::entered() == nullptr)) {
        return __libc_realloc(pointer, bytes);
    }
    if (pointer == nullptr) return malloc(bytes);
    const auto there = RunArena::size_of(pointer);
    if (bytes > 0 && bytes <= there) return pointer;
    auto* const moved = bytes > 0 ? malloc(bytes) : nullptr;
    if (moved != nullptr) std::memcpy(moved, pointer, there);
    if (moved != nullptr || bytes == 0) arena->give_back(pointer);
    return moved;
}

void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
    auto* const arena = RunArena::entered();
    return arena != nullptr ? arena->take(bytes, alignment) : __libc_memalign(alignment, bytes);
}

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
    return memalign(alignment, bytes);
}

int posix_memalign(void** pointer, std::size_t alignment, std::size_t bytes) noexcept {
    auto* const found = memalign(alignment, bytes);
    if (found == nullptr) return ENOMEM;
    *pointer = found;
    return 0;
}

}  // extern "C"
// NOLINTEND
