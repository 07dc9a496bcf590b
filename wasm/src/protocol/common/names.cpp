#include "names.hpp"

namespace tabacus {

std::string escaped(std::string_view part) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string result;
    for (const char c : part) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || c == '%' || c == '/' || c == ';') {
            result += '%';
            result += hex[byte >> 4U];
            result += hex[byte & 15U];
        } else {
            result += c;
        }
    }
    return result;
}

std::optional<std::string> unescaped(std::string_view part) { return unescape(part); }

}  // namespace tabacus
