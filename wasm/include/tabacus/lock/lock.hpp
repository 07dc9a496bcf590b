// LockTable: the locks of one namespace, over all tabs of an origin.
//
// It promises:
//  - Exclusion: while a tab believes that it holds the lock exclusively, no other tab believes that
//    it holds the lock. An exception is a holder that lost the lock and was not notified yet.
//  - Safety even where exclusion fails, because a frozen, hung or previous holder goes on: what is
//    written through Held::begin() is written only while the holder's grant is the newest.
//  - One outcome per request: granted, unavailable (if_available), timed_out, aborted, or an error.
//    A request that was not granted leaves nothing behind in any queue.
//  - First come, first served over tabs, within the limits that docs/locks.md names; a stream of
//    shared holders does not starve an exclusive waiter.
//
// It uses the Web Locks API (W3C) where there is one. Where there is none, it uses a lease in
// IndexedDB (lease.hpp), which protects fenced writes equally well. Where neither exists, it
// excludes only within the page, and only if the caller allows it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

struct Grant;
class Held;
struct LockContext;
class LockQueue;
class Names;

struct LockOptions {
    LockMode mode = LockMode::exclusive;
    bool if_available = false;  // does not wait: if the lock is in use, the Held is false
    bool steal = false;         // takes the lock from its holders; exclusive only
    std::optional<AbortSignal> signal = std::nullopt;
    std::optional<double> timeout_ms = std::nullopt;  // 0: timed_out unless the lock is free
    /// The holder loses the lock after this time, even if it is frozen or hung. All users of the
    /// lock should agree on it, because the lesser of the holder's and a waiter's value counts.
    std::optional<double> max_hold_ms = std::nullopt;
    std::string label = {};  // NOLINT(readability-redundant-member-init)
    /// The grant that the caller holds while it makes this request (Held::grant()); null if none.
    std::shared_ptr<Grant> within = nullptr;
    /// Evicts a holder that does not answer within some seconds while this request waits: its tab
    /// is suspended or hung, or no tab has the Web Lock any more.
    bool evict_unresponsive = false;
    /// An exclusive grant gets no token, which saves the transaction that stores the token. This is
    /// for a caller that fences its writes by other means: Held::begin() fails with unavailable.
    bool unfenced = false;
    /// If the database fails where Web Locks exclude other tabs, the request becomes an unfenced
    /// one, and a notice reports it. Requests that steal ignore it.
    bool fence_optional = false;

    /// Subtracts the time that has passed from the time limit.
    void spend(double spent_ms) {
        if (timeout_ms) timeout_ms = std::clamp(*timeout_ms - spent_ms, 0.0, *timeout_ms);
    }
};

/// Writes under a lock's fence, all or nothing: one IndexedDB transaction over the lock's epoch and
/// Store::data, whose keys are "<store>/<key>". Requires that its caller awaits nothing else
/// between its calls.
class FencedTransaction {
  public:
    /// Held::begin() makes it.
    FencedTransaction(std::shared_ptr<Grant> grant, std::unique_ptr<Transaction> transaction);
    FencedTransaction(FencedTransaction&&) noexcept = default;
    FencedTransaction& operator=(FencedTransaction&& other) noexcept {
        std::swap(grant_, other.grant_);
        std::swap(transaction_, other.transaction_);
        return *this;
    }
    FencedTransaction(const FencedTransaction&) = delete;
    FencedTransaction& operator=(const FencedTransaction&) = delete;
    ~FencedTransaction();

    // Each read fails as Transaction's do. A write takes effect with commit(), which reports its
    // failure.

    /// Returns the value of a row, or nothing if there is none.
    Task<std::optional<std::string>> get(std::string store, std::string key);
    /// Returns the rows in order of key, each key without its store.
    Task<std::vector<Row>> list(std::string store, std::string prefix);
    /// Writes a row, in place of any other with that key.
    void put(std::string_view store, std::string_view key, std::string_view value);
    /// Removes a row. Does nothing if there is none.
    void remove(std::string_view store, std::string_view key);
    /// Returns the text that a user of the lock keeps beside its epoch, or nothing.
    Task<std::optional<std::string>> note();
    /// Replaces that text.
    void set_note(std::string_view text);
    /// Returns the transaction that carries the writes, for protocols that have their own stores.
    [[nodiscard]] Transaction& transaction() const { return *transaction_; }
    /// Writes a row whose value no other transaction writes. If the connection dies during the
    /// commit, the host looks for this row: the transaction was committed if the row is there, and
    /// is repeated if it is not.
    void prove();
    /// Fails with lock_lost if the lock was lost since begin(), else as Transaction::commit() does.
    Task<void> commit();

  private:
    std::shared_ptr<Grant> grant_;
    std::unique_ptr<Transaction> transaction_;
};

/// A lock that was granted. Destroying it releases the lock.
class Held {
  public:
    Held() = default;
    explicit Held(std::shared_ptr<Grant> grant) : grant_(std::move(grant)) {}
    Held(Held&& other) noexcept : grant_(std::exchange(other.grant_, nullptr)) {}
    Held& operator=(Held&& other) noexcept {
        std::swap(grant_, other.grant_);
        return *this;
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    ~Held();

    /// Returns false if the lock was not available.
    explicit operator bool() const { return grant_ != nullptr; }
    /// Returns true until the lock is released or lost.
    [[nodiscard]] bool held() const;
    /// Returns the fencing token, which rises with every exclusive grant of the name, for ever.
    /// Returns nothing for a shared grant.
    [[nodiscard]] std::optional<std::int64_t> token() const;
    /// Returns the grant, for LockOptions::within; null if the lock was not available.
    [[nodiscard]] const std::shared_ptr<Grant>& grant() const { return grant_; }
    /// Returns why it was lost: stolen, frozen, page-hidden, max-hold, fenced, site-data-cleared or
    /// closed. Returns an empty text if it was not lost.
    [[nodiscard]] std::string_view loss() const;
    /// Loses the lock if max_hold_ms has passed. The timer that does so otherwise cannot run during
    /// a long turn of the event loop.
    void check_max_hold() const;
    /// Calls `callback` once if the lock is lost.
    void on_lost(Function<void(std::string_view reason)> callback) const;
    /// Releases the lock once the commits under way have ended. Does nothing if it is not held.
    void release();
    /// Fails with lock_lost if the lock is no longer held; with fenced if a newer grant exists, and
    /// then the lock is lost; with unavailable if the grant is shared or there is no IndexedDB.
    Task<FencedTransaction> begin();
    /// Does the same for a transaction that also covers the stores `also`, with that durability.
    Task<FencedTransaction> begin(Stores also, Durability durability);

  private:
    std::shared_ptr<Grant> grant_;
};

/// A request as LockTable::query() shows it.
struct LockRequestInfo {
    bool held = false;  // whether it holds the lock; otherwise it waits
    LockMode mode = LockMode::exclusive;
    std::string label;
    double since_ms = 0;  // when it was granted or made, in ms since the Unix epoch
    std::string tab;      // the identifier of its tab
};

enum class Exclusion : std::uint8_t { web_locks, lease, page };

class LockTable {
  public:
    /// `world` must outlive the table.
    LockTable(World& world, std::string_view name_space, NoticeHandler on_notice);
    ~LockTable();
    LockTable(const LockTable&) = delete;
    LockTable& operator=(const LockTable&) = delete;
    LockTable(LockTable&&) = delete;
    LockTable& operator=(LockTable&&) = delete;

    /// Returns the means by which this table excludes other tabs.
    [[nodiscard]] Exclusion exclusion() const;
    /// Whether this tab is notified of what other tabs do with locks, including the death of a
    /// holder.
    [[nodiscard]] bool announced() const;
    /// Whether Held::begin() works: there is an IndexedDB.
    [[nodiscard]] bool fenced() const;
    /// Returns the identifier of this context, as query() reports it.
    [[nodiscard]] const std::string& tab() const;
    /// Returns the names that the namespace uses, for users of locks in C++.
    [[nodiscard]] const Names& naming() const;

    /// Acquires a lock, within the promises at the head of this file. Returns a Held that is false
    /// if `if_available` is set and the lock is in use. Fails with timed_out, with aborted, with
    /// deadlock if the request would wait for what it is made under, with invalid_argument if a
    /// shared lock is entered again as exclusive, with unavailable if nothing excludes other tabs,
    /// with closed, and, unless it is unfenced, as Transaction::commit() does.
    Task<Held> acquire(std::string name, LockOptions options);
    /// Acquires all the locks or none. All callers acquire them in the same order, so that they
    /// cannot block each other in a cycle. The options apply to each lock, but the time limit
    /// applies to all together.
    Task<std::vector<Held>> acquire_all(std::vector<std::string> names, LockOptions options);

    /// Returns the requests of all tabs: those that hold the lock first, then those that wait, in
    /// the order in which they were made. The waiting requests of a frozen tab are missing.
    Task<std::vector<LockRequestInfo>> query(std::string name);
    /// Returns the names of all locks of the namespace that a tab holds or waits for: those that
    /// the browser reports where it has Web Locks, and otherwise those of the leases.
    Task<std::vector<std::string>> names();
    /// Begins a transaction that no lock fences. It is aborted when the page is being frozen. For
    /// users of locks in C++.
    Task<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability);
    /// Returns whether any tab holds the lock. Fails with unavailable if the browser does not
    /// report which locks are held.
    Task<bool> is_locked(std::string name);
    /// Returns once no tab holds the lock. Another tab may have it when the caller goes on. Fails
    /// with timed_out after `timeout_ms`, with aborted if the signal aborts, and as is_locked()
    /// does.
    Task<void> wait_for_unlock(std::string name, std::optional<AbortSignal> signal,
                               std::optional<double> timeout_ms);
    /// Calls the callbacks of on_broadcast() in all tabs with the text `about`, for users of locks
    /// in C++.
    void broadcast(std::string_view name, const std::string& about);
    /// Calls `callback` at each broadcast(), with its text. Also calls it with an empty text when a
    /// tab takes or releases the lock, unless that tab crashes before it can announce it.
    Subscription on_broadcast(std::string_view name, Function<void(const std::string&)> callback);
    /// Calls `callback` when a tab has taken, released or lost the lock, even by a crash.
    Subscription on_change(std::string_view name, Function<void()> callback);

    /// Loses all locks that this tab holds, because the database has vanished. No lock is granted
    /// until store_settled().
    void store_vanished();
    /// Ends store_vanished(). If new documents do not share the lock manager of this one, closes
    /// the table: then all calls fail with unavailable.
    void store_settled(bool shared);
    /// Releases all locks. Requests that wait fail with closed.
    void close();
    /// Whether calls fail: after close(), or after store_settled(false).
    [[nodiscard]] bool closed() const;
    /// Returns the error of calls after the end of the table.
    [[nodiscard]] Error end_error() const;

    /// Whether no task of the table runs.
    [[nodiscard]] bool idle();
    /// Whether this tab keeps a queue of the lock: it uses the lock, or has used it lately.
    [[nodiscard]] bool keeps(std::string_view name) const;

  private:
    std::unique_ptr<LockContext> context_;
};

}  // namespace tabacus
