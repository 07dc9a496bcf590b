// RowReader: reads of the store. Its rows are validated one by one, and merged into the row cache
// of their counter.
//
//   a row that is read                    what follows
//   cannot be parsed                      one warning
//   is another replica's, or of an        RowCache::merge_committed()
//   earlier epoch
//   is the replica's own                  nothing: the replica has newer totals
//   was adopted by another replica        a replica that rests gives it up; any other adopts a
//                                         slot, and reads again
//
// The counters of all reads that begin in one turn, or while a transaction reads, share the next
// transaction.
//
//   running   meaning                                     what ends the state
//   no        nothing is to be read                       load()
//   yes       counters are read, or the turn's end is     the loop, when no read has begun
//             awaited                                     meanwhile
#pragma once

#include <list>
#include <string_view>

#include "counter/counter_set.hpp"
#include "protocol/common/taken.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

class Replica;
class Transaction;

/// A caller that waits until the rows of a counter have been read.
struct ReadRequest {
    CounterState* state = nullptr;
    Completer<Unit> done;
};

class RowReader {
  public:
    [[nodiscard]] bool running() const { return running_; }
    void set_running(bool running) { running_ = running; }

    Async<Unit> add(CounterState& state) {
        requests_.push_back({&state, {}});
        return requests_.back().done.async();
    }
    [[nodiscard]] bool requested() const { return !requests_.empty(); }
    std::list<ReadRequest> take() { return taken(requests_); }

  private:
    std::list<ReadRequest> requests_;
    bool running_ = false;
};

/// Reads what the store holds of a counter. Adopts a slot first if the rows would otherwise count
/// increments twice (load_from_database()).
Async<Unit> load(Replica& replica, CounterState& state);

/// Does what load() does for a caller that does not wait. A failure is ignored: the known rows
/// stay, and the next wake-up, message or read() reads again. After a failed first read, the next
/// turn reads again.
Task<void> reload(Replica& replica, CounterState& state);
void reload_all(Replica& replica);

/// The most bases that a commit reads one after another.
constexpr std::size_t single_bases_max = 16;
/// Reads the rows of all dirty counters whose own rows have no base yet, so that their commits need
/// not read the bases one by one. Does nothing if there are at most single_bases_max of them.
Async<Unit> read_bases(Replica& replica);

/// Implements Replica::load_rows() for the database. Returns false if the rows cannot be counted as
/// they are: this is not the database that was expected, or the own row has another owner, or it is
/// unknown whether the row is the own one. The caller then adopts a slot, which resolves each of
/// these cases, and tries again.
Task<bool> load_from_database(Replica& replica, const std::list<ReadRequest>& requests);

/// Merges a row that was read. Returns false if another replica has adopted this replica's row, for
/// example while the page was in the back/forward cache. What the row holds beyond this replica's
/// totals can be counted only once the row is no longer its own.
bool merge_row(Replica& replica, CounterState& state, std::string_view row, std::string_view value,
               bool foreign);

}  // namespace tabacus
