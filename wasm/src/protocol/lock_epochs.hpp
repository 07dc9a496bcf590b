// LockEpochs: the fencing tokens of all locks of a namespace (Store::locks).
//
// It promises:
//  - A token is given once: every raise() returns larger ones than all before it, in any tab, for
//    ever. One row per lock holds the newest that is reserved, and only grows.
//  - After a raise() nothing commits under an earlier grant: check() fails there, in the
//    transaction that would have written.
//
// A database can vanish (DESIGN §1). The row is then begun anew above the mirror in localStorage,
// above what this tab has seen, and above the microseconds since 1970: tokens are reserved more
// slowly than that grows, so that they rise even where everything was cleared. Only a vanished
// database, a stale or cleared mirror and a clock set back, all together, could repeat one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lock_record.hpp"
#include "lock_transactions.hpp"
#include "names.hpp"
#include "tabacus/counter.hpp"
#include "tabacus/world.hpp"

namespace tabacus {

/// Who is about to hold a lock.
struct LockClaim {
    std::string label;
    std::int64_t max_hold_ms = 0;
    std::int64_t lease_ms = 0;  // nothing where Web Locks exclude
    std::int64_t tokens = 1;    // how many to reserve
};

/// A possession's tokens: from `next` to `last`.
struct LockTokens {
    std::string grant;
    std::int64_t next = 0;
    std::int64_t last = 0;
    [[nodiscard]] bool empty() const { return next > last; }
};

class LockEpochs {
  public:
    LockEpochs(World& world, const Names& names, std::string tab, NoticeHandler on_notice)
        : world_(world),
          names_(names),
          tab_(std::move(tab)),
          on_notice_(std::move(on_notice)),
          transactions_(world) {}

    /// False: no IndexedDB, so that tokens rise in this page only and nothing is fenced.
    [[nodiscard]] bool fenced() const { return world_.database().available(); }
    [[nodiscard]] const std::string& tab() const { return tab_; }
    [[nodiscard]] AbortableTransactions& transactions() { return transactions_; }

    /// Begins a new epoch, which ends the former holder's.
    Task<LockTokens> raise(const std::string& key, LockClaim claim);
    /// The same in a transaction under way (scope: locks, aside).
    Task<LockTokens> raise_in(Transaction& transaction, const std::string& key, LockClaim claim);
    /// Reserves more tokens for the possession. fenced: it has ended.
    Task<void> extend(const std::string& key, LockTokens& tokens, std::int64_t count);
    /// What is recorded; nothing when there is none that can be read.
    Task<std::optional<LockRow>> read(const std::string& key);
    /// fenced, unless `grant` is the one recorded.
    Task<LockRow> check(Transaction& transaction, const std::string& key, std::string_view grant);

    Task<std::optional<LockRow>> read_in(Transaction& transaction, const std::string& key);

  private:
    Task<LockTokens> raise_once(const std::string& key, LockClaim claim);
    Task<std::int64_t> floor(const std::string& key);
    Task<void> mirror(const std::string& key, std::int64_t last);

    World& world_;
    const Names& names_;
    std::string tab_;
    NoticeHandler on_notice_;
    AbortableTransactions transactions_;
    std::map<std::string, std::int64_t> seen_;
};

}  // namespace tabacus
