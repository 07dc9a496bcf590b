// The records of the catalogue's strategies: "1;field;field;…", each field without a ';'. As with
// record.hpp, a parser accepts exactly what its formatter writes, or nothing.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/common/record.hpp"

namespace tabacus {

inline std::string format_record(std::initializer_list<std::string_view> fields) {
    std::string text = "1";
    for (const auto field : fields) {
        text += ';';
        text += field;
    }
    return text;
}

/// The text cut at each `separator`; nothing unless that makes exactly `Count` parts.
template <std::size_t Count>
std::optional<std::array<std::string_view, Count>> parts_of(std::string_view text, char separator) {
    std::array<std::string_view, Count> parts;
    for (std::size_t i = 0; i < Count; ++i) {
        const auto end = text.find(separator);
        const bool last = i + 1 == Count;
        if (last != (end == std::string_view::npos)) return std::nullopt;
        parts[i] = text.substr(0, end);
        if (!last) text.remove_prefix(end + 1);
    }
    return parts;
}

/// The fields of a record of this version that has exactly `Count`.
template <std::size_t Count>
std::optional<std::array<std::string_view, Count>> record_fields(std::string_view text) {
    if (text.substr(0, 2) != "1;") return std::nullopt;
    return parts_of<Count>(text.substr(2), ';');
}

/// A value that stands alone in its record.
inline std::string format_amount(std::int64_t n) { return format_record({format_value(n)}); }
inline std::optional<std::int64_t> parse_amount(std::string_view text) {
    const auto fields = record_fields<1>(text);
    return fields ? parse_value(fields->front()) : std::nullopt;
}

}  // namespace tabacus
