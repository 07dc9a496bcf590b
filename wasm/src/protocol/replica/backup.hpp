// Backup: a copy of each replica's committed rows in localStorage, an independent store.
//
// Each row has one writer and only grows, which is all that localStorage can be trusted with
// (docs/decisions/0001): a stale read or a lost write makes the backup older, never wrong. Its rows
// are read when a slot is adopted, and are only ever merged by taking the larger totals. Failures
// are ignored: a backup is a hint.
#pragma once

#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// A readable row of the backup.
struct BackupRow {
    std::string row;  // "counter/generation/slot"
    TotalsRecord record;
};

class Backup {
  public:
    Backup(World& world, const Names& names) : storage_(world.storage()), names_(names) {}

    /// Returns every readable row of the backup whose key begins with `prefix`.
    Task<std::list<BackupRow>> rows(std::string_view prefix);

    // Texts of the backup as they are stored. The caller attempts these operations, and parses the
    // outcome by the functions below.
    using Text = std::optional<std::string>;
    Async<Text> get(std::string_view row);
    Async<Unit> put(std::string_view row, TotalsRecord record);
    /// The generation of the database as last seen by any tab.
    Async<Text> generation();
    Async<Unit> set_generation(std::string_view generation);

    /// Return nothing, or the empty generation, if the text is missing or unreadable, or if the
    /// operation failed.
    static std::optional<TotalsRecord> parsed(Outcome<Text> text);
    static std::string parsed_generation(Outcome<Text> text);

  private:
    Async<Text> read(std::string_view key);
    Async<Unit> write(std::string_view key, std::string_view value);

    Storage& storage_;
    const Names& names_;
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
