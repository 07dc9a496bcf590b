// LockEpochs: the fencing tokens of all locks of a namespace (Store::locks).
//
// It promises:
//  - A token is given once: every raise() returns larger tokens than all before it, in any tab, for
//    ever. One row per lock holds the newest token that is reserved, and this number only grows.
//  - After a raise(), or a check() that succeeded, nothing commits under an earlier hold: check()
//    of the earlier hold fails, in the transaction that would have written.
//
// No transaction is needed between a holder that releases the lock and the next one: the next in
// line reserves its tokens while it waits, and begins its epoch with its first commit. That is
// enough, because a holder that released the lock writes nothing any more. A holder from which the
// lock was stolen may still try to write. A stealer therefore raises the epoch before it is granted
// the lock.
//
// The row of a lock that no tab uses is removed (lock_sweeper.hpp), and a database can vanish
// (docs/decisions/0007). A new row then begins above three numbers: the largest token of all locks,
// of which localStorage has a backup; the largest token that this tab has seen; and the
// microseconds since 1970. Tokens are reserved more slowly than microseconds pass, so that they
// rise even where everything was cleared. A token could repeat only if the row is gone, the backup
// is stale or cleared, and the clock was set back.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lock_record.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/shared_transactions.hpp"
#include "sweep/lock_sweeper.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// What a tab that is about to hold a lock claims.
struct LockClaim {
    std::string label;
    std::int64_t max_hold_ms = 0;
    std::int64_t lease_ms = 0;  // the length of a lease; 0 where Web Locks exclude
    std::int64_t tokens = 1;    // how many to reserve; may be 0 where Web Locks exclude
};

/// The tokens of a native hold: from `next` to `last`.
struct LockTokens {
    std::string grant;
    std::string born;  // identifies the row in which they were reserved (LockRow::born)
    std::int64_t first = 0;
    std::int64_t next = 1;
    std::int64_t last = 0;
    LockClaim claim = {};    // NOLINT(readability-redundant-member-init)
    bool recorded = false;   // whether the row names this hold
    bool contended = false;  // whether another tab had reserved tokens after this tab's last ones
    [[nodiscard]] bool empty() const { return next > last; }
};

class LockEpochs {
  public:
    /// The transactions that callers share are run in `scope`.
    LockEpochs(World& world, const Names& names, std::string tab, NoticeHandler on_notice,
               Scope& scope);

    /// Returns false without IndexedDB: then tokens rise in this page only, and nothing is fenced.
    [[nodiscard]] bool fenced() const { return world_.database().available(); }
    [[nodiscard]] const std::string& tab() const { return tab_; }
    /// Begins a transaction that is aborted when the page is frozen.
    Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability);
    void abort_transactions() const { transactions_.abort_all(); }

    /// Begins a new epoch, which ends that of the former holder. Fails with lock_lost if `wanted`
    /// returns false just before the epoch would begin.
    Task<LockTokens> raise(const std::string& key, LockClaim claim,
                           Function<bool()> wanted = nullptr);
    /// Reserves tokens for the next holder, greater than all before. Does not begin a new epoch
    /// unless `granted` has become true meanwhile. Only one tab at a time may wait with such
    /// tokens.
    Task<LockTokens> reserve(const std::string& key, LockClaim claim,
                             std::shared_ptr<const bool> granted);
    /// Does what raise() does, within `transaction` (scope: locks, quarantine).
    Task<LockTokens> raise_in(Transaction& transaction, const std::string& key, LockClaim claim);
    /// Reserves more tokens for the hold. Fails with fenced if the hold has ended; with unavailable
    /// if another tab has reserved tokens for the next holder.
    Task<void> extend(const std::string& key, LockTokens& tokens, std::int64_t count);
    /// Returns the lock's row, or nothing if there is none that can be read.
    Task<std::optional<LockRow>> read(const std::string& key);
    /// Whether the lock's line (lease.hpp) lists a tab that waits or reads.
    Task<bool> lined_up(const std::string& key);
    /// Returns the names of the locks with a lease that has not been returned, or that tabs wait
    /// for. A dead holder's lock is among them.
    Task<std::vector<std::string>> leased();
    /// Makes the hold's epoch the newest one (scope: locks). Fails with fenced if a newer one
    /// exists.
    Task<LockRow> check(Transaction& transaction, const std::string& key, LockTokens& tokens);
    /// Does what check() does in a transaction of its own, unless the hold is recorded already.
    Task<void> record(const std::string& key, LockTokens& tokens);

    Task<std::optional<LockRow>> read_in(Transaction& transaction, const std::string& key);

    /// Forgets what this tab has seen of a lock that it does not use any more. Without a row, its
    /// next tokens are above those of all forgotten locks.
    void forget(const std::string& key);

  private:
    Task<LockTokens> raise_once(const std::string& key, LockClaim claim, Function<bool()> wanted);
    Task<LockTokens> reserve_in(Transaction& transaction, const std::string& key, LockClaim claim,
                                std::shared_ptr<const bool> granted);
    Task<LockTokens> begin_epoch(Transaction& transaction, const std::string& key,
                                 const std::optional<LockRow>& row, LockClaim claim);
    [[nodiscard]] bool has_newer(const std::string& key, const std::optional<LockRow>& row) const;
    Task<std::int64_t> newest(const std::string& key, const std::optional<LockRow>& row,
                              std::int64_t count);
    [[nodiscard]] LockRow row_of(const LockTokens& tokens) const;
    Task<std::int64_t> floor();
    Task<std::int64_t> backup();
    Task<void> save_backup(std::int64_t last);

    World& world_;
    const Names& names_;
    std::string tab_;
    NoticeHandler on_notice_;
    TransactionGroup transactions_;
    LockSweeper sweeper_;
    SharedTransactions reads_;   // of read()
    SharedTransactions tokens_;  // of raise(), reserve() and record(), for all locks
    /// The largest token that this tab has seen of each lock.
    std::map<std::string, std::int64_t> seen_;
    std::int64_t forgotten_ = 0;  // the largest that forget() has forgotten
};

}  // namespace tabacus
