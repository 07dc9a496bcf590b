// Reading the store: its rows are validated one by one, and merged into the row cache of their
// counter.
//
//   a row that is read                    what follows
//   cannot be parsed                      one warning
//   is another replica's, or of an        RowCache::merge_committed()
//   earlier epoch
//   is the replica's own                  nothing: the replica knows it better
//   was adopted by another replica        a replica that rests gives it up; any other adopts a
//                                         slot, and reads again
#pragma once

#include <string_view>

#include "tabacus/common/task.hpp"

namespace tabacus {

class Replica;
struct CounterState;

/// Reads what the store holds of a counter, and adopts a slot if that is necessary to count it
/// once.
Task<void> load(Replica& replica, CounterState& state);

/// Does what load() does for a caller that does not wait. A failure is ignored: the known rows
/// stay, and the next wake-up, message or read() reads again. After a failed first read, the next
/// turn reads again.
Task<void> reload(Replica& replica, CounterState& state);
void reload_all(Replica& replica);

/// Reads the rows of a counter from the database. Returns false if they cannot be counted as they
/// are: this is not the database that was expected, or the own row has another owner, or it is not
/// known whether it is the own one. The caller then adopts a slot, which reports and recovers,
/// settles that and gives the row to the others, and tries again.
Task<bool> load_from_database(Replica& replica, CounterState& state);

/// Merges a row that was read. Returns false if another replica adopted this one's row (while the
/// page slept in the back/forward cache, say): what it holds beyond the replica's own totals can
/// only be counted once the row is not its own any more.
bool merge_row(Replica& replica, CounterState& state, std::string_view row, std::string_view value,
               bool foreign);

}  // namespace tabacus
