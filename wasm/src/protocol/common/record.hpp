// What is written into rows, backups, claims and messages. Any script of the origin may have
// written what is read: every parser accepts exactly what its formatter writes, or nothing.
//
// Every format begins with its version, "1;": old and new tabs live side by side, and a version
// that is not known is a record to quarantine, not to guess at.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"

namespace tabacus {

/// The largest lifetime total of a row. 512 swings over the whole range of a value fit below it,
/// and the sum of two totals cannot overflow.
constexpr std::int64_t total_max = (std::int64_t{1} << 62) - 1;

/// What every text in a store or on a channel begins with, and what stands between its fields.
constexpr std::string_view record_version = "1";
constexpr char record_separator = ';';
/// The fields of a text, its version among them, which live as long as it does. If there are more
/// than `most`, returns only `most` + 1 of them: no record of ours has that many, and a foreign one
/// is not worth the memory.
std::vector<std::string_view> fields_of(std::string_view text, std::size_t most);

/// The epochs of a slot rise with each adoption of it (adoption.hpp).
constexpr std::int64_t epoch_max = value_max;

/// A replica's cumulative increments and decrements: only ever grow, so that repetition and order
/// of messages do no harm.
struct Totals {
    std::int64_t plus = 0;
    std::int64_t minus = 0;

    friend bool operator==(Totals, Totals) = default;
    friend Totals operator+(Totals a, Totals b) { return {a.plus + b.plus, a.minus + b.minus}; }
    friend Totals operator-(Totals a, Totals b) { return {a.plus - b.plus, a.minus - b.minus}; }
    [[nodiscard]] bool empty() const { return plus == 0 && minus == 0; }
};

/// The join of the semilattice.
inline Totals larger(Totals a, Totals b) {
    return {std::max(a.plus, b.plus), std::max(a.minus, b.minus)};
}

/// A row of a replicated counter: "1;epoch;plus;minus".
struct TotalsRecord {
    std::int64_t epoch = 0;
    Totals totals;
    friend bool operator==(TotalsRecord, TotalsRecord) = default;
};
/// True when `record` holds more than `known`, which it then replaces.
bool outgrows(TotalsRecord& known, TotalsRecord record);
std::string format_totals(TotalsRecord record);
std::optional<TotalsRecord> parse_totals(std::string_view text);

/// A whole number in decimal, as std::to_chars writes it.
std::string format_decimal(std::int64_t number);
/// Exactly what that writes, from `min` to `max`: no sign but a leading minus, no leading zeros, no
/// "-0".
std::optional<std::int64_t> parse_decimal(std::string_view text, std::int64_t min,
                                          std::int64_t max);

/// A plain value in decimal, within ±value_max: what the simple strategies store.
std::string format_value(std::int64_t value);
std::optional<std::int64_t> parse_value(std::string_view text);

/// The holder of a slot, as recorded in claims: "1;generation;slot;epoch".
struct HolderRecord {
    std::string generation;
    std::string slot;
    std::int64_t epoch = 0;
    friend bool operator==(const HolderRecord&, const HolderRecord&) = default;
};
std::string format_holder(const HolderRecord& record);
std::optional<HolderRecord> parse_holder(std::string_view text);

/// The subject of that claim: "slot/" and the slot.
std::string subject_of_slot(std::string_view slot);

/// A message between tabs.
struct Message {
    enum class Kind : char {
        totals = 'n',     // the totals of a row, perhaps not committed yet
        ask = 'a',        // announce your totals of this counter (there is no store to read)
        changed = 'c',    // the store of this counter changed: read it
        recovered = 'h',  // rows were brought back: read everything
    };
    Kind kind = Kind::totals;
    std::string counter;  // escaped name, empty for recovered
    std::string row;      // totals: "generation/slot"
    TotalsRecord record;  // totals
    friend bool operator==(const Message&, const Message&) = default;
};
std::string format_message(const Message& message);
std::optional<Message> parse_message(std::string_view text);

/// An identifier of a generation or slot: 1 to 32 of [0-9a-z].
bool is_identifier(std::string_view text);
/// An identifier made of 64 random bits: 13 digits or fewer in base 36.
std::string identifier_of(std::uint64_t bits);
/// "generation/slot", both identifiers.
bool is_row_id(std::string_view text);

}  // namespace tabacus
