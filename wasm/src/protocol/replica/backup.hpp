// Backup: a copy of each replica's committed rows in localStorage, an independent store.
//
// Reads of localStorage may be stale, and writes may be lost (docs/decisions/0001). Because each
// row has one writer and only grows, the backup then becomes older, but never wrong. A row of the
// backup is used in two cases: when the row of the database cannot be read, and after the database
// was lost; then the larger totals of the two win. In all other cases the backup is ignored,
// because another script may have written it. If a write of the backup fails, the backup is
// incomplete, and nothing else happens.
//
// The backup of a namespace may have backup_max bytes, since the origin's other scripts need the
// rest of localStorage. A tab measures it when it adopts its first slot, and adds rows while there
// is room. Rows that the backup has are always replaced.
//
//   state               meaning                                what ends the state
//   complete            it holds each row that was committed   a row finds no room, or cannot be
//                                                              written: incomplete
//   incomplete          a warning has reported that; further   nothing
//                       rows are written where there is room
//
//   stored generation   meaning                                what ends the state
//   current             each adoption replaces it              keep_generation(): kept
//   kept                a newer version wrote it               nothing
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// The most bytes of a backup: keys and values in UTF-8.
constexpr std::size_t backup_max = 2'000'000;
/// The assumed length of a value, "1;epoch;plus;minus". Most are shorter.
constexpr std::size_t backup_value_size = 32;

/// A row of the backup.
struct BackupRow {
    std::string row;  // "counter/generation/slot"
    std::string text;
};

class Backup {
  public:
    Backup(World& world, const Names& names) : storage_(world.storage()), names_(names) {}

    /// Measures the backup. Returns every row of it that is not of `generation`.
    Task<std::list<BackupRow>> rows_of_others(std::string_view generation);
    /// Takes the room that a further row needs. Returns false if there is not enough.
    bool take_room(const std::string& row);
    /// Returns true to the first caller, which warns that the backup is incomplete.
    bool take_warning() { return !std::exchange(incomplete_, true); }

    // Texts of the backup as they are stored. The caller attempts these operations, and parses the
    // outcome by the functions below.
    using Text = std::optional<std::string>;
    Async<Text> get(std::string_view row);
    Async<Unit> put(std::string_view row, TotalsRecord record);
    /// Reads the generation of the database that any tab has seen last.
    Async<Text> generation();
    Async<Unit> set_generation(std::string_view generation);
    /// Leaves the stored generation as it is from here on: a newer version has written it.
    void keep_generation() { generation_kept_ = true; }

    /// Returns nothing if the text is missing or cannot be read, or if the operation failed.
    static std::optional<TotalsRecord> parsed(Outcome<Text> text);
    /// Whether only a newer version can read the text.
    static bool newer(Outcome<Text>& text) {
        return text && text.value() && is_newer(*text.value());
    }
    static std::string parsed_generation(Outcome<Text> text);

  private:
    Async<Text> read(std::string_view key);
    Async<Unit> write(std::string_view key, std::string_view value);

    Storage& storage_;
    const Names& names_;
    std::size_t room_ = backup_max;
    bool incomplete_ = false;
    bool generation_kept_ = false;
};

/// The parts of a row's key, "counter/generation/slot". They live as long as its text.
struct RowKey {
    std::string_view counter;
    std::string_view row;  // "generation/slot"
    std::string_view generation;
};
/// Returns nothing for a text of any other shape.
std::optional<RowKey> parse_row_key(std::string_view key);

}  // namespace tabacus
