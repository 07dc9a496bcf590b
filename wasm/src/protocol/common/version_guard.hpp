// VersionGuard: what each World does when a tab reads a row that a later version of the program has
// written in a format that this one does not know.
//
// If the read fails, it fails with version_mismatch, and so does the transaction. So no protocol
// can take such a row for a missing or a damaged one and overwrite it. Where rows are independent
// of each other, the read *passes*: it returns the row, and the reader checks it by is_newer().
//
//   store                     get     list     who reads the rows that pass
//   rows                      passes  passes   a replica, which reads the rows of all tabs
//   locks                     fails   passes   lists of all locks, and of the calls to a leader
//   jobs: <queue>/o/…         fails   passes   lists of the outcomes that several tabs fetch
//   the other rows of jobs,   fails   fails    –
//   counters, deltas, limits
//   meta                      fails   –        –
//   claims                    –       –        the replica reads holders by Transaction::holder()
//   data, quarantine          passes  passes   applications, whose values have no version
//   <name>/commit             passes  passes   a proof of a commit, which has no version
#pragma once

#include <string_view>

#include "tabacus/common/error.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

enum class ReadBy : std::uint8_t { get, list };

/// Whether a row is a record that only a newer version can read.
bool is_newer_row(Store store, std::string_view key, std::string_view value);
/// Whether such a row must not be delivered to the protocol that reads it.
bool bars_reader(Store store, ReadBy by, std::string_view key);

/// The error of a call that needs a record of a newer version.
Error newer_record(std::string_view key);

/// The message of the warning `older-version`. JavaScript emits one event for all these warnings.
constexpr const char* older_version_is_open = "A tab of an earlier version of tabacus is open.";

}  // namespace tabacus
