#include "waiting_line.hpp"

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

/// How many fields an entry of the line has, and where the first begins.
constexpr std::size_t fields_of_entry = 5;
constexpr std::size_t fields_before = 2;
constexpr std::size_t line_fields_max = fields_before + WaitingLine::entries_max * fields_of_entry;

}  // namespace

std::string format_line(const WaitingLine& line) {
    auto text = std::string(record_version) + record_separator + line.grant;
    for (const auto& entry : line.entries) {
        for (const auto& field :
             {std::string(1, static_cast<char>(entry.kind)), entry.id, entry.tab,
              format_decimal(entry.heartbeat), format_decimal(entry.lease_ms)}) {
            (text += record_separator) += field;
        }
    }
    return text;
}

std::optional<WaitingLine> parse_line(std::string_view text) {
    const auto fields = fields_of(text, line_fields_max);
    if (fields.size() < fields_before || (fields.size() - fields_before) % fields_of_entry != 0 ||
        fields.size() > line_fields_max || fields[0] != record_version ||
        (fields[1] != WaitingLine::no_grant && !is_identifier(fields[1]))) {
        return std::nullopt;
    }
    WaitingLine line{std::string(fields[1]), {}};
    for (std::size_t i = fields_before; i < fields.size(); i += fields_of_entry) {
        const auto heartbeat = parse_value(fields[i + 3]);
        const auto lease_ms = parse_value(fields[i + 4]);
        const bool known = fields[i] == "r" || fields[i] == "s" || fields[i] == "x";
        if (!known || !is_identifier(fields[i + 1]) || !is_identifier(fields[i + 2]) ||
            !heartbeat || *heartbeat < 0 || !lease_ms) {
            return std::nullopt;
        }
        line.entries.push_back({static_cast<LineEntry::Kind>(fields[i][0]),
                                std::string(fields[i + 1]), std::string(fields[i + 2]), *heartbeat,
                                *lease_ms});
    }
    return line;
}

}  // namespace tabacus
