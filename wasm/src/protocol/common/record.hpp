// The records that the protocols write into rows, backups, claims and messages. Any script of the
// origin may have written what is read, so parsers are strict: each parse_…() function accepts only
// what its format_…() function writes, with any version field whose format is 1, and returns
// nothing for any other text.
//
// Tabs of several versions run side by side, because a page that is open is not reloaded when an
// application is deployed. Every format therefore begins with a version field (version_of()):
//
//   "<format>;…"             a record in that format
//   "<writer>.<format>;…"    a record in that format, by a program whose own format is `writer`
//
// This program writes format 1, as version 0.1.0 does. A later program that changes a format writes
// "2;…", or "2.1;…" where the fields are those of format 1. A record in a format above this
// program's is left where it is: it is not adopted, overwritten, removed or set aside
// (version_guard.hpp). A damaged record is quarantined.
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

/// The largest total of a row. A counter can pass through the whole range of a value 512 times
/// before it is reached, and the sum of two totals cannot overflow.
constexpr std::int64_t total_max = (std::int64_t{1} << 62) - 1;

/// The character between the fields of a record.
constexpr char record_separator = ';';
/// The beginning of every record that this program writes: its format, and the separator.
constexpr std::string_view record_start = "1;";
/// The first field of every record that this program writes.
constexpr std::string_view record_version = record_start.substr(0, record_start.size() - 1);

/// Whether there are formats before that of this program.
constexpr bool has_earlier_formats = record_start != "1;";

/// What this program can do with a record, by its version field.
enum class RecordVersion : std::uint8_t {
    readable,  // in a format of this program
    newer,     // in a format that only later programs know
    damaged,   // there is no version field
};
RecordVersion version_of(std::string_view text);
inline bool is_newer(std::string_view text) { return version_of(text) == RecordVersion::newer; }
/// Whether a version with an earlier format wrote the record.
bool is_older(std::string_view text);
/// Returns a record of this program in the first format. All formats have had the same fields so
/// far: a program that changes the fields of a record needs the former ones here.
std::string in_first_format(std::string_view record);

/// Returns the fields of a text as views into it, or into `record_version`, which is the first
/// field if the record is in a format of this program. If it has more than `most` fields, returns
/// only `most` + 1 of them, which saves the memory for a record that is not ours.
std::vector<std::string_view> fields_of(std::string_view text, std::size_t most);

/// The largest epoch of a slot. Each adoption of the slot raises its epoch (adoption.hpp).
constexpr std::int64_t epoch_max = value_max;
/// An epoch is a count of adoptions times this, plus a random number below it. Version 0.1.0 adds 1
/// to an epoch, so that one below this is of a tab of that version.
constexpr std::int64_t epochs_per_adoption = std::int64_t{1} << 20;

/// A replica's cumulative increments and decrements. They never fall, so that messages may arrive
/// repeatedly and in any order.
struct Totals {
    std::int64_t plus = 0;
    std::int64_t minus = 0;

    friend bool operator==(Totals, Totals) = default;
    friend Totals operator+(Totals a, Totals b) { return {a.plus + b.plus, a.minus + b.minus}; }
    friend Totals operator-(Totals a, Totals b) { return {a.plus - b.plus, a.minus - b.minus}; }
    [[nodiscard]] bool empty() const { return plus == 0 && minus == 0; }
};

/// Returns the larger `plus` and the larger `minus`: the join of the semilattice.
inline Totals larger(Totals a, Totals b) {
    return {std::max(a.plus, b.plus), std::max(a.minus, b.minus)};
}

/// A row of a replicated counter: "1;epoch;plus;minus".
struct TotalsRecord {
    std::int64_t epoch = 0;
    Totals totals;
    friend bool operator==(TotalsRecord, TotalsRecord) = default;
};
/// Merges `record` into `known`: a later epoch replaces an earlier one, and of one epoch the larger
/// totals are kept. Returns whether `known` has changed.
bool outgrows(TotalsRecord& known, TotalsRecord record);
std::string format_totals(TotalsRecord record);
std::optional<TotalsRecord> parse_totals(std::string_view text);

/// Returns a whole number in decimal, as std::to_chars writes it.
std::string format_decimal(std::int64_t number);
/// Returns the number that format_decimal() writes as `text`, if it lies between `min` and `max`;
/// else nothing. A plus sign, leading zeros and "-0" are refused.
std::optional<std::int64_t> parse_decimal(std::string_view text, std::int64_t min,
                                          std::int64_t max);

/// A plain value in decimal, within ±value_max, as the strategies over localStorage store it.
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

/// Returns the subject of a slot's claim: "slot/" and the slot.
std::string subject_of_slot(std::string_view slot);

/// A message between tabs.
struct Message {
    enum class Kind : char {
        totals = 'n',     // the totals of a row, perhaps not committed yet
        ask = 'a',        // asks tabs for their totals of this counter, if there is no store
        changed = 'c',    // the store of this counter has changed and must be read
        recovered = 'h',  // rows were recovered, so that every counter must be read
    };
    Kind kind = Kind::totals;
    std::string counter;  // its escaped name; empty for recovered
    std::string row;      // totals: "generation/slot"
    TotalsRecord record;  // totals
    friend bool operator==(const Message&, const Message&) = default;
};
std::string format_message(const Message& message);
std::optional<Message> parse_message(std::string_view text);

/// Whether `text` is an identifier, as of a generation or a slot: 1 to 32 characters of [0-9a-z].
bool is_identifier(std::string_view text);
/// Returns an identifier for 64 random bits: their number in base 36, at most 13 digits.
std::string identifier_of(std::uint64_t bits);
/// Whether `text` is "generation/slot", both identifiers.
bool is_row_id(std::string_view text);

}  // namespace tabacus
