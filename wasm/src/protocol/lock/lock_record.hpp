// The rows of locks in the store and their messages on the channel, parsed as strictly as the rows
// of record.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"

namespace tabacus {

/// Tokens stay exact as JavaScript numbers.
constexpr std::int64_t token_max = value_max;

/// The epoch of a lock, Store::locks under its escaped name:
/// "1;last;fence;born;grant;tab;since;max_hold;lease;heartbeat;label".
struct LockRow {
    std::int64_t last = 0;         // the newest token reserved; later grants get larger ones
    std::int64_t fence = 0;        // the first token of the newest hold that is known to commit
    std::string born;              // an identifier of this row; a row that replaces it has another
    std::string grant;             // the hold of `fence`: an identifier, never used twice
    std::string tab;               // the holder's identifier
    std::int64_t since_ms = 0;     // since the Unix epoch, for people only
    std::int64_t max_hold_ms = 0;  // 0: none was declared
    std::int64_t lease_ms = 0;     // of a lease: how long it lasts without a renewal; otherwise 0
    std::int64_t heartbeat = 0;    // of a lease: counts its renewals; 0 when no tab holds it
    std::string label;
    friend bool operator==(const LockRow&, const LockRow&) = default;
};
std::string format_lock_row(const LockRow& row);
std::optional<LockRow> parse_lock_row(std::string_view text);

/// The claim of a tab that evicts a hung holder, Store::locks under "<name>/rescue":
/// "1;attempt;tab;state".
struct EvictionRow {
    std::int64_t attempt = 0;
    std::string tab;
    std::string state;  // a hash of the observation that had not changed (lock_evictor.hpp)
    friend bool operator==(const EvictionRow&, const EvictionRow&) = default;
};
std::string format_eviction_row(const EvictionRow& row);
std::optional<EvictionRow> parse_eviction_row(std::string_view text);

/// The end of the key of the row beside a lease's, which lists the tabs that wait (lease.hpp).
constexpr std::string_view line_suffix = "/line";

/// Returns the key of the text that a user of a lock keeps beside it, in Store::locks.
inline std::string note_key(std::string_view escaped_name) {
    return std::string(escaped_name) + "/note";
}

/// Returns the key of the proof of the last fenced transaction (FencedTransaction::prove()).
inline std::string proof_key(std::string_view escaped_name) {
    return std::string(escaped_name) + "/commit";
}

/// Returns the key of the claim of a tab that evicts a hung holder (EvictionRow).
inline std::string eviction_key(std::string_view escaped_name) {
    return std::string(escaped_name) + "/rescue";
}

/// A call to a leader, in Store::locks. Its key there is "<its lock>/call/<id>" until it is
/// answered, and then "<its lock>/answer/<id>". Its text is "1;state;at", and ";key" follows if the
/// call has a key.
struct CallRow {
    enum class State : char { open = 'o', succeeded = 's', failed = 'f' };
    State state = State::open;
    std::int64_t at_ms = 0;  // when it was answered, since the Unix epoch
    std::optional<std::string> key;
    friend bool operator==(const CallRow&, const CallRow&) = default;
};
std::string format_call_row(const CallRow& row);
std::optional<CallRow> parse_call_row(std::string_view text);

/// The id of the call with a key, in Store::locks under "<its lock>/key/<key>": "1;id".
std::string format_call_id(std::string_view id);
std::optional<std::string> parse_call_id(std::string_view text);

/// The number of the newest call, "1;number".
std::string format_call_number(std::int64_t number);
std::optional<std::int64_t> parse_call_number(std::string_view text);

/// The most fields of a row or a message. A text with more fields was not written by this program,
/// and is not parsed, to save memory.
constexpr std::size_t lock_fields_max = 4096;
/// The fields of a message before those of its kind.
constexpr std::size_t lock_fields_min = 4;

/// A message between tabs about one lock: "1;kind;key;tab", and then the fields of `detail`.
struct LockMessage {
    enum class Kind : char {
        request = 'w',    // the tab begins to wait, or is the next in line: a tab that keeps the
                          // lock in its grace period releases it; detail: since when; its number,
                          // or 0 if it wants no answer; "t" if it is `ifAvailable`, or "n" if it is
                          // the next in line
        taken = 't',      // the tab holds it
        busy = 'b',       // answers a request: the lock is in use, not merely kept; detail: the
                          // requester's tab and number
        released = 'r',   // the tab released it
        handed = 'o',     // the tab released it while others wait; may arrive after the `taken` of
                          // the next holder
        query = 'q',      // asks all tabs for their requests; detail: a nonce, or an empty text,
                          // which holders alone answer
        report = 'i',     // answers a query: detail is the nonce, then one entry for each request
        probe = 'p',      // goes from each waiter to the holders it waits for; detail: the path
        victim = 'v',     // the path closed into a cycle, and this request has to end
        echo = 'h',       // a tab's message to itself; detail: a nonce
        ask = 'a',        // asks the holders whether they live (holder_check.hpp)
        alive = 'y',      // a holder's answer
        broadcast = 'l',  // LockTable::broadcast(); detail: what it is about
    };
    Kind kind = Kind::request;
    std::string key;  // the escaped name
    std::string tab;
    std::vector<std::string> detail;
    friend bool operator==(const LockMessage&, const LockMessage&) = default;
};
/// A moment since the Unix epoch, in microseconds: several tabs may ask within one millisecond.
std::string format_since(double since_ms);
std::optional<double> parse_since(std::string_view text);

std::string format_lock_message(const LockMessage& message);
std::optional<LockMessage> parse_lock_message(std::string_view text);

}  // namespace tabacus
