// RunArena: memory of a run's own, so that the run can be put back to where it was.
//
// A run is a web of coroutine frames, and cannot be copied part by part. But whatever it is made of
// it has asked for; and what was asked for in an arena lies there, with the arena's own
// bookkeeping. Its bytes are the run at that moment, and put back in their place they are that run
// again: so the checkpoints of Plank et al., "Libckpt: Transparent Checkpointing under Unix"
// (USENIX 1995).
//
// Only a program that links lab/malloc/replaced_malloc.cpp asks an arena for its memory. Elsewhere
// (WebAssembly, sanitizers) there is none, and a search repeats its runs from the beginning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tabacus::lab {

/// The memory of one thread's run. What lies in it when it ends is forgotten, not destroyed.
class RunArena {
  public:
    static constexpr std::size_t usual_bytes = std::size_t{64} << 20U;

    /// True where memory is asked of arenas.
    static bool available();

    /// Makes an arena of `bytes` in all. A run that asks for more ends the process.
    explicit RunArena(std::size_t bytes = usual_bytes);
    ~RunArena();
    RunArena(const RunArena&) = delete;
    RunArena& operator=(const RunArena&) = delete;
    RunArena(RunArena&&) = delete;
    RunArena& operator=(RunArena&&) = delete;

    /// While it lives, what this thread asks for is asked of the arena. One at a time.
    class Stay {
      public:
        explicit Stay(RunArena& arena);
        ~Stay();
        Stay(const Stay&) = delete;
        Stay& operator=(const Stay&) = delete;
        Stay(Stay&&) = delete;
        Stay& operator=(Stay&&) = delete;
    };

    /// All that lies there. Not during a Stay.
    using Copy = std::vector<std::byte>;
    void save(Copy& copy) const;
    /// Puts it back: what was asked for since is forgotten.
    void restore(const Copy& copy);

    // What replaced_malloc.cpp asks.

    /// The arena that this thread is in; or nothing.
    static RunArena* entered();
    /// The arena of this thread in which `pointer` lies; or nothing.
    static RunArena* holding(const void* pointer);
    /// `alignment` is a power of two.
    void* take(std::size_t bytes, std::size_t alignment = smallest);
    void give_back(void* pointer);
    /// How many bytes may be used there.
    [[nodiscard]] static std::size_t size_of(const void* pointer);

  private:
    static constexpr std::size_t smallest = alignof(std::max_align_t);
    static constexpr std::size_t small_max = 1024;
    static constexpr std::size_t small_sizes = small_max / smallest;
    static constexpr std::size_t sizes = small_sizes + 64;

    struct Free {
        Free* next;
    };
    /// In the arena itself, so that it is saved with it.
    struct Bookkeeping {
        std::size_t used;
        std::array<Free*, sizes> free;  // by size
    };
    /// Before each piece.
    struct alignas(std::max_align_t) Head {
        std::uint32_t size;   // its number
        std::uint32_t shift;  // of the piece, from where it would lie without an alignment
    };

    static std::size_t number_of(std::size_t bytes);
    static std::size_t bytes_of(std::size_t number);
    [[nodiscard]] std::byte* begin() const { return memory_.get(); }
    [[nodiscard]] Bookkeeping& bookkeeping() const;

    std::size_t bytes_;
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace tabacus::lab
