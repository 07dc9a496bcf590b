#include "run_arena.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <new>

namespace tabacus::lab {
namespace {

/// The arena that this thread has entered last. Memory may be freed after a stay (an exception that
/// left it), and is returned to this arena.
constinit thread_local RunArena* known = nullptr;
constinit thread_local bool staying = false;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
    return (bytes + alignment - 1) & ~(alignment - 1);
}

/// Ends the process, because a run that continues outside of its arena would be another run.
[[noreturn]] void end_for_want() {
    std::fputs("a run asks for more memory than its arena has\n", stderr);
    std::terminate();
}

}  // namespace

bool RunArena::available() {
    static const bool asked = [] {
        constexpr std::size_t enough = std::size_t{1} << 16U;
        RunArena arena(enough);
        void* piece = nullptr;
        {
            const Stay stay(arena);
            piece = ::operator new(smallest);
        }
        const bool there = holding(piece) == &arena;
        ::operator delete(piece);
        return there;
    }();
    return asked;
}

// The memory is not cleared, so that the system provides no page for the parts that are never used.
RunArena::RunArena(std::size_t bytes)
    : bytes_(bytes), memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)) {
    ::new (static_cast<void*>(begin())) Bookkeeping{rounded_up(sizeof(Bookkeeping), smallest), {}};
}

RunArena::~RunArena() {
    if (known == this) known = nullptr;
}

RunArena::Bookkeeping& RunArena::bookkeeping() const {
    return *std::launder(reinterpret_cast<Bookkeeping*>(begin()));
}

RunArena::Stay::Stay(RunArena& arena) {
    known = &arena;
    staying = true;
}
RunArena::Stay::~Stay() { staying = false; }

RunArena* RunArena::entered() { return staying ? known : nullptr; }

RunArena* RunArena::holding(const void* pointer) {
    if (known == nullptr) return nullptr;
    const std::less<> before;
    const void* const begin = known->begin();
    const void* const end = known->begin() + known->bytes_;
    return !before(pointer, begin) && before(pointer, end) ? known : nullptr;
}

/// Returns the number of the size class. Sizes are multiples of 16 bytes at first, then powers of
/// two.
std::size_t RunArena::number_of(std::size_t bytes) {
    if (bytes <= small_max) return bytes == 0 ? 0 : (bytes - 1) / smallest;
    return small_sizes + static_cast<std::size_t>(std::bit_width(bytes - 1));
}
std::size_t RunArena::bytes_of(std::size_t number) {
    if (number < small_sizes) return (number + 1) * smallest;
    return std::size_t{1} << (number - small_sizes);
}

void* RunArena::take(std::size_t bytes, std::size_t alignment) {
    if (bytes > bytes_ || alignment > bytes_) end_for_want();
    const auto number = number_of(alignment > smallest ? bytes + alignment : bytes);
    auto& [used, free] = bookkeeping();
    std::byte* piece = nullptr;
    if (auto*& found = free.at(number); found != nullptr) {
        piece = reinterpret_cast<std::byte*>(found);
        found = found->next;
    } else {
        const auto size = bytes_of(number);
        if (size + sizeof(Head) > bytes_ - used) end_for_want();
        piece = begin() + used + sizeof(Head);
        used += size + sizeof(Head);
    }
    const auto address = reinterpret_cast<std::uintptr_t>(piece);
    const auto shift = alignment > smallest ? rounded_up(address, alignment) - address : 0;
    piece += shift;
    ::new (static_cast<void*>(piece - sizeof(Head)))
        Head{static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(shift)};
    return piece;
}

void RunArena::give_back(void* pointer) {
    auto* const piece = static_cast<std::byte*>(pointer);
    const auto [number, shift] = *reinterpret_cast<const Head*>(piece - sizeof(Head));
    auto*& first = bookkeeping().free.at(number);
    first = ::new (static_cast<void*>(piece - shift)) Free{first};
}

std::size_t RunArena::size_of(const void* pointer) {
    const auto* const piece = static_cast<const std::byte*>(pointer);
    const auto [number, shift] = *reinterpret_cast<const Head*>(piece - sizeof(Head));
    return bytes_of(number) - shift;
}

void RunArena::save(Copy& copy) const { copy.assign(begin(), begin() + bookkeeping().used); }

void RunArena::restore(const Copy& copy) { std::memcpy(begin(), copy.data(), copy.size()); }

}  // namespace tabacus::lab
