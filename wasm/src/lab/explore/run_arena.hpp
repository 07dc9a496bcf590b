// RunArena: the memory of one run, so that the run can be put back to an earlier step.
//
// A run consists of many coroutine frames, and cannot be copied part by part. But all of it is in
// memory that it has allocated. If the memory comes from an arena, the arena's bytes, with the
// arena's own bookkeeping, are the run at that moment. Copying the bytes back restores the run.
// (Plank et al., "Libckpt: Transparent Checkpointing under Unix", USENIX 1995.)
//
// Only a program that links lab/malloc/replaced_malloc.cpp allocates from arenas. In other programs
// (WebAssembly, sanitizers), a search repeats its runs from the beginning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tabacus::lab {

/// The memory of one thread's run. Destroying an arena frees the memory of its objects without
/// calling their destructors.
class RunArena {
  public:
    static constexpr std::size_t usual_bytes = std::size_t{64} << 20U;

    /// Whether this program allocates from arenas.
    static bool available();

    /// Makes an arena of `bytes` bytes. A run that needs more ends the process.
    explicit RunArena(std::size_t bytes = usual_bytes);
    ~RunArena();
    RunArena(const RunArena&) = delete;
    RunArena& operator=(const RunArena&) = delete;
    RunArena(RunArena&&) = delete;
    RunArena& operator=(RunArena&&) = delete;

    /// RAII guard: while it exists, this thread allocates from the arena. Requires that this thread
    /// has no other Stay.
    class Stay {
      public:
        explicit Stay(RunArena& arena);
        ~Stay();
        Stay(const Stay&) = delete;
        Stay& operator=(const Stay&) = delete;
        Stay(Stay&&) = delete;
        Stay& operator=(Stay&&) = delete;
    };

    /// The bytes of the arena that are in use.
    using Copy = std::vector<std::byte>;
    /// Copies the arena. Requires that there is no Stay.
    void save(Copy& copy) const;
    /// Restores the arena. Later allocations are forgotten. Requires that there is no Stay.
    void restore(const Copy& copy);

    // Functions for replaced_malloc.cpp.

    /// Returns the arena that this thread has entered, or null.
    static RunArena* entered();
    /// Returns the arena of this thread that contains `pointer`, or null.
    static RunArena* holding(const void* pointer);
    /// Allocates memory. Requires that `alignment` is a power of two.
    void* take(std::size_t bytes, std::size_t alignment = smallest);
    /// Frees memory of the arena.
    void give_back(void* pointer);
    /// Returns the number of bytes that may be used at `pointer`.
    [[nodiscard]] static std::size_t size_of(const void* pointer);

  private:
    static constexpr std::size_t smallest = alignof(std::max_align_t);
    static constexpr std::size_t small_max = 1024;
    static constexpr std::size_t small_sizes = small_max / smallest;
    static constexpr std::size_t sizes = small_sizes + 64;

    struct Free {
        Free* next;
    };
    /// The bookkeeping is in the arena itself, so that it is saved with it.
    struct Bookkeeping {
        std::size_t used;
        std::array<Free*, sizes> free;  // by the number of the size class
    };
    /// The head in front of each piece of memory.
    struct alignas(std::max_align_t) Head {
        std::uint32_t size;   // the number of the size class
        std::uint32_t shift;  // the bytes by which the alignment has moved the piece
    };

    static std::size_t number_of(std::size_t bytes);
    static std::size_t bytes_of(std::size_t number);
    [[nodiscard]] std::byte* begin() const { return memory_.get(); }
    [[nodiscard]] Bookkeeping& bookkeeping() const;

    std::size_t bytes_;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace tabacus::lab
