#include "record.hpp"

#include <array>
#include <initializer_list>

#include "concat.hpp"

namespace tabacus {
namespace {

constexpr std::size_t identifier_length_max = 32;

// This does not use <charconv>, because its tables would make the program larger.
std::string digits_of(std::uint64_t number, unsigned base) {
    std::array<char, 20> buffer{};  // 2^64 − 1 has 20 decimal digits
    auto first = buffer.end();
    do {
        *--first = "0123456789abcdefghijklmnopqrstuvwxyz"[number % base];
        number /= base;
    } while (number > 0);
    return {first, buffer.end()};
}

/// Reads the fields of a record one by one. A missing field reads as the empty text, which no
/// parser accepts.
class Fields {
  public:
    explicit Fields(std::string_view text) : rest_(text) {}

    std::string_view next() {
        if (!rest_) return {};
        const auto end = rest_->find(record_separator);
        const auto field = rest_->substr(0, end);
        if (end == std::string_view::npos) {
            rest_ = std::nullopt;
        } else {
            rest_ = rest_->substr(end + 1);
        }
        return field;
    }
    /// Takes the version field. Returns false if the record is in no format of this program.
    bool version() {
        const bool readable = version_of(*rest_) == RecordVersion::readable;
        next();
        return readable;
    }
    [[nodiscard]] bool finished() const { return !rest_; }

  private:
    std::optional<std::string_view> rest_;
};

/// Takes the number of a format off the front of a text. Returns 0 if there is none. A number has
/// at most four digits, so that no identifier and no token is taken for one.
constexpr unsigned take_format(std::string_view& text) {
    constexpr std::size_t digits_max = 4;
    unsigned number = 0;
    std::size_t digits = 0;
    for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
        if (digits == digits_max || text[0] == '0') return 0;
        number = number * 10 + static_cast<unsigned>(text[digits] - '0');
    }
    text.remove_prefix(digits);
    return number;
}

/// The format of this program.
constexpr unsigned own_format = [] {
    auto text = record_version;
    return take_format(text);
}();

std::string joined(std::initializer_list<std::string_view> parts) {
    std::string text(record_version);
    for (const auto part : parts) {
        text += record_separator;
        text += part;
    }
    return text;
}

std::optional<TotalsRecord> next_totals(Fields& fields) {
    const auto epoch = parse_decimal(fields.next(), 0, epoch_max);
    const auto plus = parse_decimal(fields.next(), 0, total_max);
    const auto minus = parse_decimal(fields.next(), 0, total_max);
    if (!epoch || !plus || !minus || !fields.finished()) return std::nullopt;
    return TotalsRecord{*epoch, {*plus, *minus}};
}

}  // namespace

RecordVersion version_of(std::string_view text) {
    const auto writer = take_format(text);
    auto format = writer;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        format = take_format(text);
    }
    if (format == 0 || format > writer || !text.starts_with(record_separator)) {
        return RecordVersion::damaged;
    }
    return format > own_format ? RecordVersion::newer : RecordVersion::readable;
}

bool is_older(std::string_view text) {
    const auto writer = take_format(text);
    return writer > 0 && writer < own_format;
}

std::string in_first_format(std::string_view record) {
    return concat({record_version, ".1", record.substr(record_version.size())});
}

std::vector<std::string_view> fields_of(std::string_view text, std::size_t most) {
    std::vector<std::string_view> fields;
    if (version_of(text) == RecordVersion::readable) {
        text.remove_prefix(text.find(record_separator) + 1);
        fields.push_back(record_version);
    }
    while (fields.size() <= most) {
        const auto end = text.find(record_separator);
        fields.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return fields;
}

std::string format_decimal(std::int64_t number) {
    if (number >= 0) return digits_of(static_cast<std::uint64_t>(number), 10);
    return concat({"-", digits_of(static_cast<std::uint64_t>(-number), 10)});
}

std::optional<std::int64_t> parse_decimal(std::string_view text, std::int64_t min,
                                          std::int64_t max) {
    constexpr std::size_t digits_max = 19;  // any 19 digits fit into 64 bits
    const bool negative = text.starts_with('-');
    const auto digits = text.substr(negative ? 1 : 0);
    if (digits.empty() || digits.size() > digits_max) return std::nullopt;
    if (digits[0] == '0' && text.size() > 1) return std::nullopt;
    std::uint64_t magnitude = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return std::nullopt;
        magnitude = magnitude * 10 + static_cast<std::uint64_t>(c - '0');
    }
    if (magnitude > static_cast<std::uint64_t>(total_max)) return std::nullopt;
    const auto number = static_cast<std::int64_t>(negative ? -magnitude : magnitude);
    if (number < min || number > max) return std::nullopt;
    return number;
}

bool is_identifier(std::string_view text) {
    return !text.empty() && text.size() <= identifier_length_max &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
}

std::string identifier_of(std::uint64_t bits) { return digits_of(bits, 36); }

bool is_row_id(std::string_view text) {
    const auto slash = text.find('/');
    return slash != std::string_view::npos && is_identifier(text.substr(0, slash)) &&
           is_identifier(text.substr(slash + 1));
}

bool outgrows(TotalsRecord& known, TotalsRecord record) {
    auto merged = record;
    if (record.epoch < known.epoch) return false;
    if (record.epoch == known.epoch) merged.totals = larger(known.totals, record.totals);
    if (merged == known) return false;
    known = merged;
    return true;
}

std::string format_totals(TotalsRecord record) {
    return joined({format_decimal(record.epoch), format_decimal(record.totals.plus),
                   format_decimal(record.totals.minus)});
}

std::optional<TotalsRecord> parse_totals(std::string_view text) {
    Fields fields(text);
    if (!fields.version()) return std::nullopt;
    return next_totals(fields);
}

std::string format_value(std::int64_t value) { return format_decimal(value); }

std::optional<std::int64_t> parse_value(std::string_view text) {
    return parse_decimal(text, -value_max, value_max);
}

std::string format_holder(const HolderRecord& record) {
    return joined({record.generation, record.slot, format_decimal(record.epoch)});
}

std::optional<HolderRecord> parse_holder(std::string_view text) {
    Fields fields(text);
    if (!fields.version()) return std::nullopt;
    const auto generation = fields.next();
    const auto slot = fields.next();
    const auto epoch = parse_decimal(fields.next(), 0, epoch_max);
    if (!is_identifier(generation) || !is_identifier(slot) || !epoch || !fields.finished()) {
        return std::nullopt;
    }
    return HolderRecord{std::string(generation), std::string(slot), *epoch};
}

std::string subject_of_slot(std::string_view slot) { return concat({"slot/", slot}); }

std::string format_message(const Message& message) {
    const std::string kind(1, static_cast<char>(message.kind));
    switch (message.kind) {
        case Message::Kind::totals:
            return joined({kind, message.counter, message.row, format_decimal(message.record.epoch),
                           format_decimal(message.record.totals.plus),
                           format_decimal(message.record.totals.minus)});
        case Message::Kind::ask:
        case Message::Kind::changed:
            return joined({kind, message.counter});
        case Message::Kind::recovered:
            break;
    }
    return joined({kind});
}

std::optional<Message> parse_message(std::string_view text) {
    Fields fields(text);
    if (!fields.version()) return std::nullopt;
    const auto kind = fields.next();
    if (kind == "h") {
        if (!fields.finished()) return std::nullopt;
        return Message{Message::Kind::recovered, "", "", {}};
    }
    const std::string counter(fields.next());
    if (counter.empty()) return std::nullopt;
    if (kind == "a" || kind == "c") {
        if (!fields.finished()) return std::nullopt;
        return Message{static_cast<Message::Kind>(kind[0]), counter, "", {}};
    }
    const std::string row(fields.next());
    const auto record = next_totals(fields);
    if (kind != "n" || !is_row_id(row) || !record) return std::nullopt;
    return Message{Message::Kind::totals, counter, row, *record};
}

}  // namespace tabacus
