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

std::optional<std::string> unescaped(std::string_view part) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string result;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] != '%') {
            result += part[i];
            continue;
        }
        const auto high = i + 2 < part.size() ? hex.find(part[i + 1]) : std::string_view::npos;
        const auto low = i + 2 < part.size() ? hex.find(part[i + 2]) : std::string_view::npos;
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        result += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (escaped(result) != part) return std::nullopt;
    return result;
}

}  // namespace tabacus
