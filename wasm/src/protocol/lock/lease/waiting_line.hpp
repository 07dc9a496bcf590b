// WaitingLine: the row of Store::locks beside a lease's that lists the tabs that wait for the lock,
// or read under it (lease.hpp).
//
// "<name>/line" has the text "1;grant" and then "kind;id;tab;heartbeat;lease" of each entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tabacus {

/// A tab that waits for the lock, or reads under it.
struct LineEntry {
    enum class Kind : char { reads = 'r', waits_to_read = 's', waits = 'x' };
    Kind kind = Kind::waits;
    std::string id;
    std::string tab;
    std::int64_t heartbeat = 0;  // the number of its heartbeats
    std::int64_t lease_ms = 0;   // the longest time between two of them while it lives
    friend bool operator==(const LineEntry&, const LineEntry&) = default;
};

struct WaitingLine {
    /// More entries than a line has in practice. The last one may stand for the readers that found
    /// no room (LeaseLock::add_reader).
    static constexpr std::size_t entries_max = 1'024;
    /// The grant of a line without readers.
    static constexpr std::string_view no_grant = "-";

    std::string grant = std::string(no_grant);  // the epoch that the readers share
    std::vector<LineEntry> entries;
    friend bool operator==(const WaitingLine&, const WaitingLine&) = default;
};

std::string format_line(const WaitingLine& line);
std::optional<WaitingLine> parse_line(std::string_view text);

}  // namespace tabacus
