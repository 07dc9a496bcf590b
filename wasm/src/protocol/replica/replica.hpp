// Replica: this tab as one writer among many, for all replicated counters of a namespace.
//
// It promises:
//  - An increment whose flush resolved is in the store, and is counted exactly once for ever.
//  - No increment is counted twice, even if tabs crash, freeze or are closed, slots are stolen, or
//    the database vanishes.
//  - Storage grows with the most tabs open at once, not with the tabs ever opened.
//
// How:
//  - SLOT (replica_slot.hpp). The replica writes the rows of one slot: the lowest whose liveness
//    lock it can take. It holds that Web Lock while it lives. In a browser in which a held lock
//    keeps a page out of the back/forward cache, it holds the lock only while it has anything to
//    write.
//  - EPOCH (adoption.hpp). Adopting a slot records a new holder in `claims`, in one transaction.
//    Every commit claims the slot again under that holder; the unique index aborts it if a newer
//    one is recorded. The lock only orders the waiters; the claim is the fence.
//  - COMMIT (replica_committer.hpp). A commit writes whole rows of cumulative totals, up to
//    commit_rows_max of them in one transaction, one transaction at a time.
//  - PAGE (page_phase.hpp). A page that is left commits once more, and releases what others wait
//    for.
//  - NEWS (replica_news.hpp). Totals are announced before they are committed, and checked against
//    the store later.
//  - GENERATION (generation.hpp). The database carries a random id. A row is named by (generation,
//    slot), so that rows saved from a vanished database keep their names. They are saved in the
//    memory of living tabs, and in the backup that each replica keeps of its committed rows in
//    localStorage (backup.hpp). Any tab can merge them back, any number of times, because the
//    larger totals win.
//
// Each part has its own state. A step that needs many parts is a function over the replica, in the
// header of the part that it belongs to; most of these functions are coroutines. A function that
// needs few parts takes these, and not the replica. If the parts held references to each other,
// each use of another part would load a reference first, and that code would make the page of a
// counter too large.
//
// What grows is kept in lists, because growing a vector takes eight times the code.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "adoption.hpp"
#include "backup.hpp"
#include "counter/counter_set.hpp"
#include "generation.hpp"
#include "page_phase.hpp"
#include "protocol/common/names.hpp"
#include "replica_committer.hpp"
#include "replica_news.hpp"
#include "replica_notices.hpp"
#include "replica_slot.hpp"
#include "row_reader.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// Where the rows live.
enum class Medium : std::uint8_t { database, storage, memory };

class Replica {
  public:
    /// `data_loss`: what the browser reported when it made the database, if it did so before.
    Replica(World& its_world, const Names& its_names, Medium its_medium, NoticeHandler on_notice,
            std::string data_loss);
    Replica(const Replica&) = delete;
    Replica& operator=(const Replica&) = delete;
    Replica(Replica&&) = delete;
    Replica& operator=(Replica&&) = delete;
    virtual ~Replica() = default;

    /// Returns the counter of that name. The first call makes it. The durability of a counter is
    /// the strictest that any call has asked for.
    CounterState& counter(std::string_view name, Durability durability);

    /// Adds `n` at once. The commit and the announcement follow at the end of the turn. Returns the
    /// value. If that would leave its range, changes nothing and returns nothing.
    std::optional<std::int64_t> increment(CounterState& state, std::int64_t n) {
        if (!state.add(n)) return std::nullopt;
        if (n != 0) {
            if (!state.busy) counters.touch(state);
            if (!counters.turn_requested()) schedule_turn();
        }
        return state.value.get();
    }

    /// Returns the rows as the store holds them, plus this tab's own increments. Fails with
    /// version_mismatch if a newer version wrote one of the rows.
    Task<std::int64_t> read(CounterState& state);
    /// Returns once all that was counted before the call is committed. Fails with closed, with
    /// unknown_commit, and as a commit does.
    Task<void> flush(CounterState& state);
    /// Commits what is pending and releases everything. Fails as flush() does, after the release.
    Task<void> close();
    /// Returns true while nothing runs.
    [[nodiscard]] bool idle() { return scope.idle(); }

    // The functions over a replica use the following.

    [[nodiscard]] bool active() const { return phase.active(); }
    [[nodiscard]] bool closed() const { return phase.closed(); }

    /// Reads the stored rows of the counters whose CounterReads are `reading` into their row
    /// caches. Returns false if a slot must be adopted before the rows are read again.
    virtual Task<bool> load_rows(const std::list<ReadRequest>& requests);
    /// Commits the dirty rows, and at most `most` of them.
    virtual Task<void> commit_rows(std::size_t most);

    /// Computes the value of a counter anew.
    void revalue(CounterState& state);
    /// Schedules what follows an increment once the script has ended, unless it is scheduled.
    void schedule_turn();

    World& world;
    const Names names;
    const Medium medium;
    ReplicaNotices notices;
    Backup backup;
    ReplicaSlot slot;
    Adoption adoption;
    Generation generation;
    ReplicaCommitter committer;
    ReplicaNews news;
    RowReader reader;
    PagePhase phase;
    CounterSet counters;  // behind the other parts, whose offsets stay small: it is 16 KB
    Scope scope;          // last: what runs in it uses all of the above

  private:
    Task<void> turn();
};

}  // namespace tabacus
