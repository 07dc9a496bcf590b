#include "browser/bridge.hpp"

#include <emscripten/em_js.h>

#include <cstdint>
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
std::string& packed_texts() {
    static std::string packed;
    return packed;
}

}  // namespace

char* text_buffer(std::size_t size) {
    packed_texts().resize(size);
    return packed_texts().data();
}

Texts texts() {
    std::string_view packed = packed_texts();
    constexpr std::uint32_t null = 0xffff'ffff;
    Texts all;
    while (!packed.empty()) {
        std::uint32_t size = 0;
        std::memcpy(&size, packed.data(), sizeof size);
        packed.remove_prefix(sizeof size);
        if (size == null) {
            all.emplace_back();
        } else {
            all.emplace_back(std::string(packed.substr(0, size)));
            packed.remove_prefix(size);
        }
    }
    return all;
}

std::string text_at(std::size_t index) { return texts()[index].value_or(""); }

}  // namespace tabacus::browser
