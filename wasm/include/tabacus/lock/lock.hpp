// LockTable: the locks of one namespace, over all tabs of an origin.
//
// It promises:
//  - Exclusion: of the holders that do not know yet that they lost the lock, an exclusive one is
//    alone.
//  - Safety even where exclusion fails (a frozen, hung or previous holder that goes on): what is
//    written through Held::begin() is written only while the holder's grant is the newest.
//  - One outcome per request: granted, unavailable (if_available), timed_out, aborted, or an error.
//    Nothing of a request that ended otherwise stays in any queue.
//  - First come, first served over tabs, within the limits that docs/locks.md names; a stream of
//    shared holders does not starve an exclusive waiter.
//
// Web Locks API (W3C) where there is one; else a lease in IndexedDB (lease.hpp) that is as
// safe for what is fenced; else the page alone, if the caller allows it.
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
    bool if_available = false;  // do not wait: a Held that is none
    bool steal = false;         // take it from its holders; exclusive only
    std::optional<AbortSignal> signal = std::nullopt;
    std::optional<double> timeout_ms = std::nullopt;  // 0: timed_out unless the lock is free
    /// The lock is lost after this time, also if its holder is frozen or hung. All users of the
    /// lock should agree on it: the lesser of the holder's and a waiter's value counts.
    std::optional<double> max_hold_ms = std::nullopt;
    std::string label = {};                   // NOLINT(readability-redundant-member-init)
    std::shared_ptr<Grant> within = nullptr;  // Held::grant() under which this is asked
    /// The lock is taken from a holder that does not answer within some seconds while this request
    /// waits: its tab is suspended or hung, or nobody has the Web Lock any more.
    bool evict_unresponsive = false;
    /// Exclusive without a token, and without the transaction that one takes: for a caller that
    /// fences what it writes by itself. Held::begin() is unavailable.
    bool unfenced = false;
    /// If the database fails, and Web Locks exclude, the request becomes an unfenced one, and a
    /// notice reports it. Not for requests that steal.
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
    /// Returns the transaction that it writes through, for protocols that have stores of their own.
    [[nodiscard]] Transaction& transaction() const { return *transaction_; }
    /// Writes a row whose value no other transaction writes. By it a host recognises that this
    /// transaction was committed although its connection died, and repeats it otherwise.
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
    /// Loses the lock if its maxHold is over: in a turn that takes long, the timer is not due.
    void check_max_hold() const;
    /// Calls `callback` once if the lock is lost.
    void on_lost(Function<void(std::string_view reason)> callback) const;
    /// Releases the lock once the commits under way have ended. Does nothing if it is not held.
    void release();
    /// Fails with lock_lost if the lock is no longer held; with fenced if a newer grant exists, and
    /// then the lock is lost; with unavailable if the grant is shared or there is no IndexedDB.
    Task<FencedTransaction> begin();
    /// Begins the transaction over the stores `also`, too, and as durable as the protocol needs.
    Task<FencedTransaction> begin(Stores also, Durability durability);

  private:
    std::shared_ptr<Grant> grant_;
};

/// A request as LockTable::query() shows it.
struct LockRequestInfo {
    bool held = false;  // else it waits
    LockMode mode = LockMode::exclusive;
    std::string label;
    double since_ms = 0;  // of the Unix epoch
    std::string tab;      // an identifier
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

    /// Returns what excludes other tabs here.
    [[nodiscard]] Exclusion exclusion() const;
    /// Whether what other tabs do is announced to this one, the death of a holder included.
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
    /// Acquires all of them, in one order for everybody, or none. The options hold for each; the
    /// time limit for all together.
    Task<std::vector<Held>> acquire_all(std::vector<std::string> names, LockOptions options);

    /// Returns the requests of all tabs: those that hold the lock first, then those that wait, in
    /// the order in which they were made. The waiting requests of a frozen tab are missing.
    Task<std::vector<LockRequestInfo>> query(std::string name);
    /// Returns the names of all locks of the namespace that a tab holds or waits for: as the
    /// browser reports them where it has Web Locks, else by the leases.
    Task<std::vector<std::string>> names();
    /// Begins a transaction under no lock, which is aborted when the page is being frozen. It is
    /// for users of locks in C++.
    Task<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability);
    /// Returns whether any tab holds the lock. Fails with unavailable if the browser does not
    /// report which locks are held.
    Task<bool> is_locked(std::string name);
    /// Returns once no tab holds the lock. Another tab may have it when the caller goes on. Fails
    /// with timed_out after `timeout_ms`, with aborted if the signal aborts, and as is_locked()
    /// does.
    Task<void> wait_for_unlock(std::string name, std::optional<AbortSignal> signal,
                               std::optional<double> timeout_ms);
    /// Calls the callbacks of on_broadcast() in all tabs, for users of locks in C++.
    void broadcast(std::string_view name, const std::string& about);
    /// Calls `callback` at each broadcast(), with what it is about. Calls it with an empty text
    /// when a tab that could still announce it took or released the lock.
    Subscription on_broadcast(std::string_view name, Function<void(const std::string&)> callback);
    /// Calls `callback` when a tab took, released or lost the lock, also by a crash.
    Subscription on_change(std::string_view name, Function<void()> callback);

    /// Loses everything, because the database has vanished, and grants nothing until
    /// store_settled().
    void store_vanished();
    /// Ends store_vanished(). If new documents do not share the lock manager of this one, closes
    /// the table: then all calls fail with unavailable.
    void store_settled(bool shared);
    /// Releases everything. Requests that wait fail with closed.
    void close();
    /// Whether calls fail: after close(), or after store_settled(false).
    [[nodiscard]] bool closed() const;
    /// Returns the error of calls after the end of the table.
    [[nodiscard]] Error end_error() const;

    /// Whether no task of the table runs.
    [[nodiscard]] bool idle();

  private:
    std::unique_ptr<LockContext> context_;
};

}  // namespace tabacus
