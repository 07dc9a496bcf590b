// What the C++ library does in the worst case, in a few bytes: a trap, which JavaScript sees as a
// WebAssembly.RuntimeError, instead of a handler to be called, or of printf and all that it needs
// to say on the console which assertion failed.
#include <cstddef>
#include <cstdlib>
#include <new>

// Replacing these is the program's right: C++20 [replacement.functions], and libc++'s user
// documentation, "Overriding the default termination handler".
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
