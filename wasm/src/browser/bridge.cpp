#include "browser/bridge.hpp"

#include <emscripten/em_js.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

// clang-format off
EM_JS(double, tabacus_call, (int what, int operation, int object, double number, const char* first,
                             size_t first_size, const char* second, size_t second_size), {
    return Module.tabacusCall(what, operation, object, number, first, first_size, second, second_size);
});
// clang-format on

namespace tabacus::browser {

double call(Call what, const Arguments& arguments) noexcept {
    const auto& [operation, object, number, first, second] = arguments;
    return tabacus_call(static_cast<int>(what), operation, object, number, first.data(),
                        first.size(), second.data(), second.size());
}

namespace {

// One for the module: the host packs texts right before the call that takes them, on the one thread
// that a tab has.
struct PackedTexts {
    char* data = nullptr;
    std::size_t size = 0;
    std::size_t capacity = 0;
};
PackedTexts packed;

/// A longer buffer is freed as soon as a shorter one does.
constexpr std::size_t kept_bytes_max = 65'536;

/// malloc() and realloc() report that there is no memory, where a string would end the program.
/// NOLINTBEGIN(cppcoreguidelines-no-malloc)
bool grow(std::size_t size) {
    auto* const grown = static_cast<char*>(std::realloc(packed.data, size));
    if (grown == nullptr) return false;
    packed.data = grown;
    packed.capacity = size;
    // texts() copies the texts by operator new. Volatile: else the compiler leaves the pair out.
    void* volatile copy = std::malloc(size);
    std::free(copy);
    return copy != nullptr;
}

void release() {
    std::free(packed.data);
    packed = {};
}
/// NOLINTEND(cppcoreguidelines-no-malloc)

}  // namespace

char* text_buffer(std::size_t size) {
    if (packed.capacity > kept_bytes_max && size <= kept_bytes_max) release();
    if (size > packed.capacity && !grow(size)) {
        release();
        return nullptr;
    }
    packed.size = size;
    return packed.data;
}

Texts texts() {
    std::string_view rest(packed.data, packed.size);
    constexpr std::uint32_t null = 0xffff'ffff;
    Texts all;
    while (!rest.empty()) {
        std::uint32_t size = 0;
        std::memcpy(&size, rest.data(), sizeof size);
        rest.remove_prefix(sizeof size);
        if (size == null) {
            all.emplace_back();
        } else {
            all.emplace_back(std::string(rest.substr(0, size)));
            rest.remove_prefix(size);
        }
    }
    return all;
}

std::string text_at(std::size_t index) { return texts()[index].value_or(""); }

}  // namespace tabacus::browser
