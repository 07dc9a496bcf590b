// VersionGuard: what each World does when a tab reads a row that a later version of the program has
// written in a format that this one does not know.
//
// The read fails with version_mismatch, and with it the transaction. So no protocol can take such a
// row for a missing or a damaged one and write it anew. Where rows stand for themselves, they are
// delivered, and the reader decides by is_newer().
//
//   store                     get     list     the reader of what is delivered
//   rows                      passes  passes   a replica, which reads the rows of all tabs
//   locks                     fails   passes   of a list: all locks; all calls to a leader
//   jobs: <queue>/o/…         fails   passes   of a list: the outcomes that several tabs fetch
//   the other rows of jobs,   fails   fails    –
//   counters, deltas, limits
//   meta                      fails   –        –
//   claims                    –       –        a holder is delivered to the replica
//   data, quarantine          passes  passes   what an application has stored is no record
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
