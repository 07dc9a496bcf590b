// EntryLog: what a tab knows of a logged counter: per tab its entries, and how many of the first
// ones are folded into one sum.
//
// Entries have one writer, are numbered from 1 and never change. The sum of a tab's first n entries
// is therefore the same whoever folds them, and whoever folds again, later or at the same time,
// writes the same record or one that covers more. So folding needs no exclusion, and a reader takes
// the fold that covers most and the entries beyond it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tabacus {

/// "entry/<tab>/<number>" or "fold/<tab>/<number>": an entry, or the sum of those up to it.
struct LogKey {
    enum class Kind : std::uint8_t { entry, fold };
    Kind kind = Kind::entry;
    std::string tab;
    std::int64_t number = 0;
};
std::string format_log_key(const LogKey& key);
std::optional<LogKey> parse_log_key(std::string_view text);

/// "1;<amount>;<when it was written, in ms since the epoch>"; of a fold, when its last entry was.
struct LogRecord {
    std::int64_t amount = 0;
    std::int64_t time_ms = 0;
};
std::string format_log_record(LogRecord record);
std::optional<LogRecord> parse_log_record(std::string_view text);

class EntryLog {
  public:
    struct Tab {
        std::map<std::int64_t, LogRecord> entries;  // by number
        std::map<std::int64_t, LogRecord> folds;    // by the last number that they cover
        /// The fold that covers most; number 0 when there is none.
        [[nodiscard]] std::pair<std::int64_t, LogRecord> fold() const;
        std::int64_t sum = 0;  // of that fold and the entries beyond it
    };

    void put(const LogKey& key, LogRecord record);
    /// Keeps what others may still miss: only what a fold covers is forgotten.
    void forget_covered(const LogKey& key);
    [[nodiscard]] std::int64_t sum() const { return sum_; }
    [[nodiscard]] const std::map<std::string, Tab, std::less<>>& tabs() const { return tabs_; }
    /// Takes the own entries that a scan of the store, begun at `after`, cannot have seen.
    void take_newer(const EntryLog& other, std::string_view tab, std::int64_t after);

  private:
    void recount(Tab& tab);

    std::map<std::string, Tab, std::less<>> tabs_;
    std::int64_t sum_ = 0;  // of the tabs'
};

}  // namespace tabacus
