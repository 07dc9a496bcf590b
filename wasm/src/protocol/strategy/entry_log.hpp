// EntryLog: what a tab knows of a logged counter. For each tab, it has the tab's entries and its
// folds. A fold is the sum of the tab's first entries.
//
// A tab's entries have one writer, are numbered from 1 and never change. The sum of the first n
// entries is therefore the same in every tab that computes it, and tabs that fold at the same time
// or later write the same record, or one that covers more entries. So folding needs no mutual
// exclusion. A reader takes the fold that covers most entries, and the entries after it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tabacus {

/// The key of a record: "entry/<tab>/<number>" for an entry, or "fold/<tab>/<number>" for the sum
/// of a tab's entries up to that number.
struct LogKey {
    enum class Kind : std::uint8_t { entry, fold };
    Kind kind = Kind::entry;
    std::string tab;
    std::int64_t number = 0;
};
std::string format_log_key(const LogKey& key);
std::optional<LogKey> parse_log_key(std::string_view text);

/// A record: "1;<amount>;<time>". The time is when the entry was written, or the fold's last entry.
struct LogRecord {
    std::int64_t amount = 0;   // within ±value_max
    std::int64_t time_ms = 0;  // since the Unix epoch
};
std::string format_log_record(LogRecord record);
std::optional<LogRecord> parse_log_record(std::string_view text);

class EntryLog {
  public:
    struct Tab {
        std::map<std::int64_t, LogRecord> entries;  // by number
        std::map<std::int64_t, LogRecord> folds;    // by the last number that they cover
        /// Returns the fold that covers most entries and the number of its last entry, which is 0
        /// if there is no fold.
        [[nodiscard]] std::pair<std::int64_t, LogRecord> fold() const;
        std::int64_t sum = 0;  // of that fold and the entries after it
    };

    /// Adds a record, or replaces the one under that key.
    void put(const LogKey& key, LogRecord record);
    /// Forgets the record under that key, which was removed from the store, if a fold covers it. A
    /// record that no fold covers is kept.
    void forget_covered(const LogKey& key);
    /// Returns the sum of all tabs' increments, which may lie outside ±value_max.
    [[nodiscard]] std::int64_t sum() const { return sum_; }
    [[nodiscard]] const std::map<std::string, Tab, std::less<>>& tabs() const { return tabs_; }
    /// Copies the entries of `tab` with numbers above `after` from `other`: a scan of the store
    /// that began when the last number was `after` cannot have seen them.
    void take_newer(const EntryLog& other, std::string_view tab, std::int64_t after);

  private:
    void recount(Tab& tab);

    std::map<std::string, Tab, std::less<>> tabs_;
    std::int64_t sum_ = 0;  // of the sums of all tabs
};

}  // namespace tabacus
