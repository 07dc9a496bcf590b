#include "lock_record.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

constexpr double us_per_ms = 1000;

std::string joined(const std::vector<std::string>& fields) {
    std::string text(record_version);
    for (const auto& field : fields) (text += record_separator) += field;
    return text;
}

/// Parses a count that is written exactly as format_decimal() writes it.
std::optional<std::int64_t> parse_count(std::string_view text) {
    const auto value = parse_value(text);
    return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

std::string format_lock_row(const LockRow& row) {
    return joined({format_decimal(row.last), format_decimal(row.fence), row.born, row.grant,
                   row.tab, format_decimal(row.since_ms), format_decimal(row.max_hold_ms),
                   format_decimal(row.lease_ms), format_decimal(row.heartbeat),
                   escaped(row.label)});
}

std::optional<LockRow> parse_lock_row(std::string_view text) {
    const auto fields = fields_of(text, lock_fields_max);
    if (fields.size() != 11 || fields[0] != record_version) return std::nullopt;
    std::array<std::int64_t, 6> numbers{};
    constexpr std::array<std::size_t, 6> where{1, 2, 6, 7, 8, 9};
    for (std::size_t i = 0; i < where.size(); ++i) {
        const auto number = parse_count(fields[where[i]]);
        if (!number) return std::nullopt;
        numbers[i] = *number;
    }
    auto label = unescaped(fields[10]);
    for (const auto& identifier : {fields[3], fields[4], fields[5]}) {
        if (!is_identifier(identifier)) return std::nullopt;
    }
    if (!label || numbers[1] > numbers[0]) return std::nullopt;
    return LockRow{numbers[0],
                   numbers[1],
                   std::string(fields[3]),
                   std::string(fields[4]),
                   std::string(fields[5]),
                   numbers[2],
                   numbers[3],
                   numbers[4],
                   numbers[5],
                   std::move(*label)};
}

std::string format_eviction_row(const EvictionRow& row) {
    return joined({format_decimal(row.attempt), row.tab, row.state});
}

std::optional<EvictionRow> parse_eviction_row(std::string_view text) {
    const auto fields = fields_of(text, lock_fields_max);
    if (fields.size() != 4 || fields[0] != record_version) return std::nullopt;
    const auto attempt = parse_count(fields[1]);
    if (!attempt || !is_identifier(fields[2]) || !is_identifier(fields[3])) return std::nullopt;
    return EvictionRow{*attempt, std::string(fields[2]), std::string(fields[3])};
}

std::string format_call_row(const CallRow& row) {
    std::vector<std::string> fields{std::string(1, static_cast<char>(row.state)),
                                    format_decimal(row.at_ms)};
    if (row.key) fields.push_back(escaped(*row.key));
    return joined(fields);
}

std::optional<CallRow> parse_call_row(std::string_view text) {
    const auto fields = fields_of(text, lock_fields_max);
    if ((fields.size() != 3 && fields.size() != 4) || fields[0] != record_version) {
        return std::nullopt;
    }
    const auto at_ms = parse_count(fields[2]);
    if (fields[1].size() != 1 || std::string_view("osf").find(fields[1][0]) > 2 || !at_ms) {
        return std::nullopt;
    }
    CallRow row{static_cast<CallRow::State>(fields[1][0]), *at_ms, std::nullopt};
    if (fields.size() == 4) {
        row.key = unescaped(fields[3]);
        if (!row.key) return std::nullopt;
    }
    return row;
}

std::string format_call_id(std::string_view id) { return joined({escaped(id)}); }

std::optional<std::string> parse_call_id(std::string_view text) {
    const auto fields = fields_of(text, lock_fields_max);
    if (fields.size() != 2 || fields[0] != record_version) return std::nullopt;
    return unescaped(fields[1]);
}

std::string format_call_number(std::int64_t number) { return joined({format_decimal(number)}); }

std::optional<std::int64_t> parse_call_number(std::string_view text) {
    const auto fields = fields_of(text, lock_fields_max);
    if (fields.size() != 2 || fields[0] != record_version) return std::nullopt;
    return parse_count(fields[1]);
}

std::string format_lock_message(const LockMessage& message) {
    std::vector<std::string> fields{std::string(1, static_cast<char>(message.kind)), message.key,
                                    message.tab};
    for (const auto& part : message.detail) fields.push_back(escaped(part));
    return joined(fields);
}

std::string format_since(double since_ms) {
    return format_decimal(static_cast<std::int64_t>(since_ms * us_per_ms));
}

std::optional<double> parse_since(std::string_view text) {
    const auto since_us = parse_value(text);
    if (!since_us) return std::nullopt;
    return static_cast<double>(*since_us) / us_per_ms;
}

std::optional<LockMessage> parse_lock_message(std::string_view text) {
    constexpr std::string_view kinds = "wtbroqipvhlay";
    const auto fields = fields_of(text, lock_fields_max);
    if (fields.size() < lock_fields_min || fields.size() > lock_fields_max ||
        fields[0] != record_version) {
        return std::nullopt;
    }
    if (fields[1].size() != 1 || kinds.find(fields[1][0]) == std::string_view::npos) {
        return std::nullopt;
    }
    if (!unescaped(fields[2]) || !is_identifier(fields[3])) return std::nullopt;
    LockMessage message{static_cast<LockMessage::Kind>(fields[1][0]),
                        std::string(fields[2]),
                        std::string(fields[3]),
                        {}};
    for (std::size_t i = lock_fields_min; i < fields.size(); ++i) {
        auto part = unescaped(fields[i]);
        if (!part) return std::nullopt;
        message.detail.push_back(std::move(*part));
    }
    return message;
}

}  // namespace tabacus
