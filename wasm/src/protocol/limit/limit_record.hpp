// The records that sequences, budgets and rate limits write into Store::limits and post on their
// channel. As in record.hpp, a parser returns nothing for a text that its formatter does not write.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"

namespace tabacus {

/// A sequence: "1;last;grant".
struct SequenceRow {
    std::int64_t last = 0;  // the largest number that is reserved
    std::string grant;      // the identifier of the transaction that reserved it
    friend bool operator==(const SequenceRow&, const SequenceRow&) = default;
};
std::string format_sequence(const SequenceRow& row);
std::optional<SequenceRow> parse_sequence(std::string_view text);

/// A budget: "1;used", the number of rights that were taken out of it, whether spent or only held.
struct BudgetRow {
    std::int64_t used = 0;
    friend bool operator==(const BudgetRow&, const BudgetRow&) = default;
};
std::string format_budget(const BudgetRow& row);
std::optional<BudgetRow> parse_budget(std::string_view text);

/// The rights that one tab holds of a budget, under the key "<budget>/<tab>":
/// "1;state;amount;serial".
struct HoldingRow {
    enum class State : char {
        open = 'o',   // the tab may spend up to `amount` rights without a transaction
        given = 'g',  // the tab has given the rights up: the next tab that reads the row puts them
                      // back
    };
    State state = State::open;
    std::int64_t amount = 0;
    std::int64_t serial = 0;  // the number of the tab's write
    friend bool operator==(const HoldingRow&, const HoldingRow&) = default;
};
std::string format_holding(const HoldingRow& row);
std::optional<HoldingRow> parse_holding(std::string_view text);

/// A rate limit: "1;serial;now;ahead;wall;until;count;…", with an `until` and a `count` for each
/// entry of `grants`.
struct RateRow {
    struct Grants {
        std::int64_t until = 0;  // the last moment of their delivery, in the limit's own time
        std::int64_t count = 0;
        friend bool operator==(const Grants&, const Grants&) = default;
    };
    std::int64_t serial = 0;     // the number of the write
    std::int64_t now = 0;        // the least that the limit's own time may be, in ms
    std::int64_t ahead = 0;      // the most by which the time may be later than `now`, in ms
    std::int64_t wall = 0;       // the writer's wall clock at the write, in ms since the Unix epoch
    std::vector<Grants> grants;  // the grants that may still count, oldest first
    friend bool operator==(const RateRow&, const RateRow&) = default;
};
/// The most entries of a row. If there are more, the oldest two are merged, with the later `until`.
constexpr std::size_t rate_grants_max = 256;
std::string format_rate(const RateRow& row);
std::optional<RateRow> parse_rate(std::string_view text);

/// A message between tabs: "1;kind;key;detail;sender".
struct LimitMessage {
    enum class Kind : char {
        changed = 'c',  // a budget or the row of a rate limit has changed
        recall = 'r',   // asks tabs to put back the rights of a budget that they do not need
        ask = 'q',      // asks a witness of a rate limit to write the time
    };
    Kind kind = Kind::changed;
    std::string key;          // of the row
    std::int64_t detail = 0;  // changed, of a budget: the number of rights that are used
    std::string tab;          // the sender's identifier
    friend bool operator==(const LimitMessage&, const LimitMessage&) = default;
};
std::string format_limit_message(const LimitMessage& message);
std::optional<LimitMessage> parse_limit_message(std::string_view text);

}  // namespace tabacus
