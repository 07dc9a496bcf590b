// The functions that the C++ library calls when it cannot go on. They trap, which JavaScript
// receives as a WebAssembly.RuntimeError. The library's own functions would call a handler, or
// print the failed assertion on the console, and so link printf.
#include <cstddef>
#include <cstdlib>
#include <new>

// A program may replace these functions: C++20 [replacement.functions], and the section "Overriding
// the default termination handler" of libc++'s user documentation.
// NOLINTBEGIN(bugprone-*, cppcoreguidelines-no-malloc)
namespace std {
inline namespace __2 {
[[noreturn]] void __libcpp_verbose_abort(const char*, ...) noexcept { __builtin_trap(); }
}  // namespace __2
}  // namespace std

void* operator new(std::size_t size) {
    if (void* const memory = std::malloc(size)) return memory;
    __builtin_trap();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
// NOLINTEND(bugprone-*, cppcoreguidelines-no-malloc)
