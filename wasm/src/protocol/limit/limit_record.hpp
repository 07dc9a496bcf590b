// What sequences, budgets and rate limits write into Store::limits and onto their channel, parsed
// as strictly as record.hpp's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"

namespace tabacus {

/// "1;last;grant": the newest number given out, and to which transaction.
struct SequenceRow {
    std::int64_t last = 0;
    std::string grant;  // an identifier
    friend bool operator==(const SequenceRow&, const SequenceRow&) = default;
};
std::string format_sequence(const SequenceRow& row);
std::optional<SequenceRow> parse_sequence(std::string_view text);

/// "1;used": what is taken from a budget, be it spent or only held.
struct BudgetRow {
    std::int64_t used = 0;
    friend bool operator==(const BudgetRow&, const BudgetRow&) = default;
};
std::string format_budget(const BudgetRow& row);
std::optional<BudgetRow> parse_budget(std::string_view text);

/// Rights of one tab, under "<budget>/<tab>": "1;state;amount;serial".
struct HoldingRow {
    enum class State : char {
        open = 'o',   // its tab may spend up to `amount` of them without a transaction
        given = 'g',  // its tab has given them up: whoever comes first puts them back
    };
    State state = State::open;
    std::int64_t amount = 0;
    std::int64_t serial = 0;  // counts its tab's writes
    friend bool operator==(const HoldingRow&, const HoldingRow&) = default;
};
std::string format_holding(const HoldingRow& row);
std::optional<HoldingRow> parse_holding(std::string_view text);

/// "1;serial;now;ahead;wall;until;count;…": the grants that may still count, oldest first.
struct RateRow {
    struct Grants {
        std::int64_t until = 0;  // delivered no later than this, in the limit's own time
        std::int64_t count = 0;
        friend bool operator==(const Grants&, const Grants&) = default;
    };
    std::int64_t serial = 0;  // counts the writes
    std::int64_t now = 0;     // the limit's own time, in ms, is at least this,
    std::int64_t ahead = 0;   // and at most so much more
    std::int64_t wall = 0;    // the writer's wall clock then, in ms since the Unix epoch
    std::vector<Grants> grants;
    friend bool operator==(const RateRow&, const RateRow&) = default;
};
/// More than that are merged, to the later time.
constexpr std::size_t rate_grants_max = 256;
std::string format_rate(const RateRow& row);
std::optional<RateRow> parse_rate(std::string_view text);

/// A message between tabs: "1;kind;key;detail;sender".
struct LimitMessage {
    enum class Kind : char {
        changed = 'c',  // of a budget or a rate limit: read it; of a budget, detail is what is used
        recall = 'r',   // of a budget: put back what you do not need
        ask = 'q',      // of a rate limit: write what time it is
    };
    Kind kind = Kind::changed;
    std::string key;
    std::int64_t detail = 0;
    std::string tab;  // the sender's identifier
    friend bool operator==(const LimitMessage&, const LimitMessage&) = default;
};
std::string format_limit_message(const LimitMessage& message);
std::optional<LimitMessage> parse_limit_message(std::string_view text);

}  // namespace tabacus
