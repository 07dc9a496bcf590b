#include "limit_record.hpp"

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

constexpr std::size_t rate_head = 5;  // the number of fields before the grants
constexpr std::size_t rate_fields_max = rate_head + 2 * rate_grants_max;

std::optional<std::int64_t> parse_limit(std::string_view text) {
    return parse_decimal(text, 0, value_max);
}

}  // namespace

std::string format_sequence(const SequenceRow& row) {
    return concat({record_version, ";", format_decimal(row.last), ";", row.grant});
}

std::optional<SequenceRow> parse_sequence(std::string_view text) {
    const auto fields = fields_of(text, rate_fields_max);
    if (fields.size() != 3 || fields[0] != record_version || !is_identifier(fields[2])) return {};
    const auto last = parse_limit(fields[1]);
    if (!last) return std::nullopt;
    return SequenceRow{*last, std::string(fields[2])};
}

std::string format_budget(const BudgetRow& row) {
    return concat({record_version, ";", format_decimal(row.used)});
}

std::optional<BudgetRow> parse_budget(std::string_view text) {
    const auto fields = fields_of(text, rate_fields_max);
    if (fields.size() != 2 || fields[0] != record_version) return std::nullopt;
    const auto used = parse_limit(fields[1]);
    if (!used) return std::nullopt;
    return BudgetRow{*used};
}

std::string format_holding(const HoldingRow& row) {
    const std::string state(1, static_cast<char>(row.state));
    return concat({record_version, ";", state, ";", format_decimal(row.amount), ";",
                   format_decimal(row.serial)});
}

std::optional<HoldingRow> parse_holding(std::string_view text) {
    const auto fields = fields_of(text, rate_fields_max);
    if (fields.size() != 4 || fields[0] != record_version) return std::nullopt;
    if (fields[1] != "o" && fields[1] != "g") return std::nullopt;
    const auto amount = parse_limit(fields[2]);
    const auto serial = parse_limit(fields[3]);
    if (!amount || !serial) return std::nullopt;
    return HoldingRow{static_cast<HoldingRow::State>(fields[1][0]), *amount, *serial};
}

std::string format_rate(const RateRow& row) {
    auto text =
        concat({record_version, ";", format_decimal(row.serial), ";", format_decimal(row.now), ";",
                format_decimal(row.ahead), ";", format_decimal(row.wall)});
    for (const auto& grants : row.grants) {
        text += concat({";", format_decimal(grants.until), ";", format_decimal(grants.count)});
    }
    return text;
}

std::optional<RateRow> parse_rate(std::string_view text) {
    const auto fields = fields_of(text, rate_fields_max);
    if (fields.size() < rate_head || fields.size() > rate_fields_max ||
        (fields.size() - rate_head) % 2 != 0 || fields[0] != record_version) {
        return std::nullopt;
    }
    const auto serial = parse_limit(fields[1]);
    const auto now = parse_limit(fields[2]);
    const auto ahead = parse_limit(fields[3]);
    const auto wall = parse_limit(fields[4]);
    if (!serial || !now || !ahead || !wall) return std::nullopt;
    RateRow row{*serial, *now, *ahead, *wall, {}};
    std::int64_t before = 0;
    for (std::size_t i = rate_head; i + 1 < fields.size(); i += 2) {
        const auto until = parse_decimal(fields[i], before, value_max);
        const auto count = parse_decimal(fields[i + 1], 1, value_max);
        if (!until || !count) return std::nullopt;
        row.grants.push_back({*until, *count});
        before = *until;
    }
    return row;
}

std::string format_limit_message(const LimitMessage& message) {
    const std::string kind(1, static_cast<char>(message.kind));
    return concat({record_version, ";", kind, ";", message.key, ";", format_decimal(message.detail),
                   ";", message.tab});
}

std::optional<LimitMessage> parse_limit_message(std::string_view text) {
    constexpr std::string_view kinds = "crq";
    const auto fields = fields_of(text, rate_fields_max);
    if (fields.size() != 5 || fields[0] != record_version || fields[1].size() != 1)
        return std::nullopt;
    if (kinds.find(fields[1][0]) == std::string_view::npos) return std::nullopt;
    const auto detail = parse_limit(fields[3]);
    if (!detail || !is_identifier(fields[4])) return std::nullopt;
    return LimitMessage{static_cast<LimitMessage::Kind>(fields[1][0]), std::string(fields[2]),
                        *detail, std::string(fields[4])};
}

}  // namespace tabacus
