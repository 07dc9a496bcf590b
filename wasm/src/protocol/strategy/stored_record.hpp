// The records of the catalogue's strategies: "1;field;field;…". No field contains a ';'. As in
// record.hpp, a parser returns nothing for a text that its formatter does not write.
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
    std::string text(record_version);
    for (const auto field : fields) {
        text += ';';
        text += field;
    }
    return text;
}

/// Returns the parts of a text between separators; nothing unless there are exactly `Count` parts.
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

/// Returns the fields of a record after its version; nothing unless the version is known and there
/// are exactly `Count` fields.
template <std::size_t Count>
std::optional<std::array<std::string_view, Count>> record_fields(std::string_view text) {
    if (version_of(text) != RecordVersion::readable) return std::nullopt;
    return parts_of<Count>(text.substr(text.find(record_separator) + 1), record_separator);
}

/// A record with one field, a value within ±value_max.
inline std::string format_amount(std::int64_t n) { return format_record({format_value(n)}); }
inline std::optional<std::int64_t> parse_amount(std::string_view text) {
    const auto fields = record_fields<1>(text);
    return fields ? parse_value(fields->front()) : std::nullopt;
}

}  // namespace tabacus
