// World: the platform of a tab. A protocol uses the platform only through it, so that the code that
// runs in the user's tab is the code that the laboratory explores.
//
// wasm/src/browser (a real tab) and wasm/src/lab (a simulated origin) implement it. Strings are
// UTF-8. Any Async may fail with tabacus::Error; the comment of a call lists the codes that it may
// fail with. All calls come from the tab's one thread. Callbacks run on that thread, and never
// inside the call that registers them.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/common/enum_set.hpp"
#include "tabacus/common/error.hpp"
#include "tabacus/common/function.hpp"
#include "tabacus/common/shared.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus {

// --- Web Storage (HTML §12.2) -----------------------------------------------------------------

struct StorageChange {
    std::optional<std::string> key;  // nothing if the whole area was cleared
    std::optional<std::string> old_value;
    std::optional<std::string> new_value;
};

/// localStorage. No protocol relies on it to be current: a process may read its own stale copy
/// (docs/decisions/0001).
class Storage {
  public:
    /// Whether the platform has localStorage and lets the tab use it.
    [[nodiscard]] virtual bool available() const = 0;
    /// Returns the value of the key; nothing if there is no such key.
    virtual Async<std::optional<std::string>> get(std::string_view key) = 0;
    /// Fails with quota_exceeded; then the key keeps its value.
    virtual Async<Unit> set(std::string_view key, std::string_view value) = 0;
    virtual Async<Unit> remove(std::string_view key) = 0;
    /// Returns the keys that begin with `prefix`, in no particular order.
    virtual Async<std::vector<std::string>> keys(std::string_view prefix) = 0;
    /// Calls `callback` when another tab changes a key that begins with `prefix`, and when another
    /// tab clears the whole area. A `storage` event never reaches the tab that wrote (HTML §12.2).
    virtual Subscription on_change(std::string_view prefix,
                                   Function<void(const StorageChange&)> callback) = 0;

  protected:
    ~Storage() = default;
};

// --- IndexedDB (Indexed Database API 3.0) ------------------------------------------------------

/// The object stores of a namespace's one database. A row is a string under a string key.
enum class Store : std::uint8_t {
    meta,        // "generation" → the id of this incarnation, written when the database is made
    claims,      // the holder of each subject; used only through holder(), claim() and release()
    rows,        // the totals of replicated counters
    counters,    // the catalogue's strategies: one row for each counter
    quarantine,  // records that cannot be read ("aside" in the database)
    deltas,      // one row for each increment that is not folded yet
    locks,       // the epoch of each lock: its newest token, and its holder
    data,        // what applications store under a lock's fence
    jobs,        // the jobs of queues
    limits,      // sequences, budgets and rate limits
};
using Stores = EnumSet<Store>;

struct Row {
    std::string key;
    std::string value;     // empty if `foreign`; no format of ours is empty
    bool foreign = false;  // whether the stored value is not a string

    /// The text that quarantine keeps of this row.
    [[nodiscard]] std::string_view text() const {
        return value.empty() ? std::string_view("?") : std::string_view(value);
    }
};

enum class Access : std::uint8_t { read, write };
enum class Durability : std::uint8_t { relaxed, strict };

class Transaction;

/// A group of transactions that can all be aborted at once. A page that is frozen in the middle of
/// a transaction would block the transactions of other tabs until the browser ends it. Copies share
/// one group.
class TransactionGroup {
    struct State : Counted {
        std::list<Transaction*> open;
        int aborted = 0;  // the number of calls of abort_all()
    };

  public:
    TransactionGroup() : state_(std::make_unique<State>()) {}
    /// Aborts each transaction of the group that does not commit yet, and each that is being begun.
    void abort_all() const;

    /// The membership of one transaction in a group, from the call that begins the transaction to
    /// its end.
    class Member {
      public:
        /// `group` is null if the transaction belongs to no group.
        explicit Member(const TransactionGroup* group)
            : state_(group ? group->state_ : Shared<State>()),
              aborted_(group ? state_->aborted : 0) {}
        Member(Member&& other) noexcept
            : state_(std::move(other.state_)),
              aborted_(other.aborted_),
              transaction_(std::exchange(other.transaction_, nullptr)) {}
        Member(const Member&) = delete;
        Member& operator=(const Member&) = delete;
        Member& operator=(Member&&) = delete;
        ~Member() {
            if (transaction_ != nullptr) std::erase(state_->open, transaction_);
        }
        /// Adds the transaction, which has begun, to the group. Aborts it if the group was aborted
        /// since this membership was made.
        void begun(Transaction& transaction);

      private:
        Shared<State> state_;
        int aborted_;
        Transaction* transaction_ = nullptr;
    };

  private:
    Shared<State> state_;
};

/// A transaction of the database. A write returns at once; if it fails, the whole transaction
/// aborts and commit() reports the error. Reads fail with store_failed once the transaction has
/// aborted. Destroying a transaction before commit() aborts it.
class Transaction {
  public:
    virtual ~Transaction() = default;
    /// Returns the row; nothing if there is none under the key.
    virtual Async<std::optional<Row>> get(Store store, std::string_view key) = 0;
    /// Returns the rows with keys that begin with `prefix` and are not before `from`, in order of
    /// their keys, and at most `limit` of them. Requires that `from` is empty or begins with
    /// `prefix`.
    virtual Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                         std::string_view from) = 0;
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit) {
        return list(store, prefix, limit, "");
    }
    /// Returns all rows with keys that begin with `prefix`.
    Async<std::vector<Row>> list(Store store, std::string_view prefix) {
        return list(store, prefix, rows_max);
    }
    static constexpr std::uint32_t rows_max = UINT32_MAX;
    virtual void put(Store store, std::string_view key, std::string_view value) = 0;
    virtual void remove(Store store, std::string_view key) = 0;
    /// Removes all rows from the key `first` to the key `last`, both included.
    virtual void remove_range(Store store, std::string_view first, std::string_view last) = 0;

    // Claims. A unique index allows at most one holder for each subject. A commit can therefore be
    // fenced without waiting for a read, which a page that is being hidden cannot do.

    /// Returns the holder of the subject; nothing if it has none.
    virtual Async<std::optional<std::string>> holder(std::string_view subject) = 0;
    /// Records `holder` as the holder of the subject. Aborts the transaction with `fenced` if the
    /// subject has another holder.
    virtual void claim(std::string_view subject, std::string_view holder) = 0;
    /// Removes the claim of `holder`.
    virtual void release(std::string_view holder) = 0;

    /// Commits. Fails with quota_exceeded, fenced or store_failed if nothing was written, and with
    /// unknown_commit if the connection died before the outcome was reported.
    virtual Async<Unit> commit() = 0;
    /// Aborts the transaction unless commit() was called: reads and a commit then fail with
    /// store_failed. Resumes no coroutine before it returns.
    virtual void abort() = 0;
};

inline void TransactionGroup::abort_all() const {
    ++state_->aborted;
    const auto all = state_->open;
    for (auto* const transaction : all) transaction->abort();
}

inline void TransactionGroup::Member::begun(Transaction& transaction) {
    if (!state_) return;
    state_->open.push_back(transaction_ = &transaction);
    if (state_->aborted != aborted_) transaction.abort();
}

struct DatabaseEvent {
    enum class Kind : std::uint8_t {
        closed,   // the browser dropped the connection: site data was cleared, or a newer version
                  // of the program wants to upgrade the database
        created,  // open() or begin() found no database and made one
    };
    Kind kind;
    std::string data_loss;  // created: what Chromium reports ("none" or "total"); else empty
};

/// The IndexedDB database of a namespace. Its transactions are linearizable. If the browser drops
/// the connection, the next begin() reopens it.
class Database {
  public:
    /// Returns false if the platform has no IndexedDB, or refused to open the database when the tab
    /// was opened.
    [[nodiscard]] virtual bool available() const = 0;
    /// Opens the connection if it is not open. Fails with store_failed.
    virtual Async<Unit> open() = 0;
    /// Begins a transaction; ready at once while the connection is open. Fails with store_failed if
    /// the connection cannot be opened. `group` is null if the transaction belongs to no group.
    virtual Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access,
                                                      Durability durability,
                                                      const TransactionGroup* group) = 0;
    Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability) {
        return begin(scope, access, durability, nullptr);
    }
    /// Closes the connection once the open transactions have ended. The next begin() reopens it.
    virtual void close() = 0;
    virtual Subscription on_event(Function<void(const DatabaseEvent&)> callback) = 0;

  protected:
    ~Database() = default;
};

// --- Web Locks ---------------------------------------------------------------------------------

enum class LockMode : std::uint8_t { exclusive, shared };

/// A signal that aborts waiting requests, as the DOM's AbortSignal does. Copies share one signal.
class AbortSignal {
  public:
    AbortSignal() : state_(std::make_shared<State>()) {}
    void abort() const {
        if (std::exchange(state_->aborted, true)) return;
        for (const auto& callback : std::exchange(state_->callbacks, {})) callback();
    }
    [[nodiscard]] bool aborted() const noexcept { return state_->aborted; }
    void on_abort(Function<void()> callback) const {
        state_->callbacks.push_back(std::move(callback));
    }

  private:
    struct State {
        bool aborted = false;
        std::list<Function<void()>> callbacks;
    };
    std::shared_ptr<State> state_;
};

struct LockRequest {
    std::string name;
    LockMode mode = LockMode::exclusive;
    bool if_available = false;
    bool steal = false;
    std::optional<AbortSignal> signal = std::nullopt;
};

/// A lock that this tab holds. Destroying it releases the lock.
class HeldLock {
  public:
    virtual ~HeldLock() = default;
    /// Calls `callback` once if another context steals the lock.
    virtual void on_lost(Function<void()> callback) = 0;
};

struct LockInfo {
    std::string name;
    LockMode mode = LockMode::exclusive;
    std::string client_id;
};

struct LockSnapshot {
    std::vector<LockInfo> held;
    std::vector<LockInfo> pending;
    /// Whether the browser reported all requests. If it did not, `held` has those of the probed
    /// locks that are held, without their clients, and `pending` is empty.
    bool complete = true;
};

/// The lock manager (Web Locks API).
class Locks {
  public:
    /// Whether the platform has Web Locks.
    [[nodiscard]] virtual bool available() const = 0;
    /// Waits for the lock and returns it. Returns null if `if_available` is set and the lock is
    /// held. Fails with lock_lost if the signal aborts.
    virtual Async<std::unique_ptr<HeldLock>> request(LockRequest request) = 0;
    /// Returns the held and the pending requests of all tabs of the origin. If the browser refuses
    /// to report them, query() finds out which of the locks `probed` are held: it requests each of
    /// them, which holds a free one for a moment. Then it fails with unavailable if `probed` is
    /// empty, or if the page is prerendered.
    virtual Async<LockSnapshot> query(const std::vector<std::string>& probed) = 0;
    /// Finds out whether new documents of the origin share the lock manager of this one, as they
    /// must. Fails with unavailable if they do not: after site data was cleared, Chromium gives
    /// them another one.
    virtual Async<Unit> probe() = 0;

  protected:
    ~Locks() = default;
};

// --- BroadcastChannel, clock, randomness, lifecycle ---------------------------------------------

/// A BroadcastChannel. Destroying it closes the channel.
class Channel {
  public:
    virtual ~Channel() = default;
    virtual void post(std::string_view message) = 0;
    /// Posts a message some milliseconds later, and before the next message of post(). The message
    /// is lost if the context ends before it is posted.
    virtual void post_deferred(std::string_view message) { post(message); }
    /// Calls `callback` with each message of other tabs. The messages of one sender arrive in the
    /// order in which they were posted. A host may drop a message that cannot be ours: anything but
    /// a string, or a string that is longer than any of ours.
    virtual void on_message(Function<void(std::string_view)> callback) = 0;
};

/// A BroadcastChannel whose messages carry a value of the application, by structured clone. The
/// core sees a value only as a text that names it. Destroying the channel closes it.
class ValueChannel {
  public:
    virtual ~ValueChannel() = default;
    /// Posts a message, and a clone of the value unless `value` is empty.
    virtual void post(std::string_view message, std::string_view value) = 0;
    /// Calls `callback` with each message of other tabs and its value, which is empty if there is
    /// none. The callee drops the value.
    virtual void on_message(
        Function<void(std::string_view message, std::string value)> callback) = 0;
    /// Returns a clone of the value. Whoever receives the clone must drop it.
    virtual std::string copy(std::string_view value) = 0;
    /// Releases the value.
    virtual void drop(std::string_view value) = 0;
};

class Clock {
  public:
    /// The wall clock, in milliseconds since the Unix epoch. It may jump in either direction.
    [[nodiscard]] virtual double now_ms() const = 0;
    /// A clock of this context, in milliseconds since some moment. It never goes back, and may stop
    /// while the machine sleeps (High Resolution Time, W3C).
    [[nodiscard]] virtual double monotonic_ms() const = 0;
    /// Waits for at least `delay_ms`. The timers of a hidden tab may run only once a minute.
    virtual Async<Unit> sleep(double delay_ms) = 0;
    /// Waits until `count` microtasks have run, each queued by the one before it. Requires that
    /// `count` is 1 or more.
    virtual Async<Unit> after_microtasks(int count) = 0;
    /// Waits until the running script has ended.
    Async<Unit> end_of_turn() { return after_microtasks(1); }

  protected:
    ~Clock() = default;
};

class Random {
  public:
    /// Returns 64 random bits.
    virtual std::uint64_t bits() = 0;

  protected:
    ~Random() = default;
};

enum class LifecycleEvent : std::uint8_t { hidden, visible, frozen, resumed, page_hide, page_show };

class Lifecycle {
  public:
    /// Whether the page is hidden, so that its timers may run only once a minute. A worker is never
    /// hidden.
    [[nodiscard]] virtual bool hidden() const = 0;
    /// Whether this browser keeps a page out of the back/forward cache if the page holds a Web Lock
    /// when it is left, even if the page releases the lock in `pagehide`.
    [[nodiscard]] virtual bool locks_bar_cache() const = 0;
    /// Whether the page is prerendered: it was not shown yet, and may never be. `resumed` is
    /// reported when it is shown.
    [[nodiscard]] virtual bool prerendering() const = 0;
    virtual Subscription on_event(Function<void(LifecycleEvent)> callback) = 0;

  protected:
    ~Lifecycle() = default;
};

/// The parts of a platform, each as an interface.
class World {
  public:
    virtual Storage& storage() = 0;
    virtual Database& database() = 0;
    virtual Locks& locks() = 0;
    /// Opens the channel of that name. Returns null if the platform has no BroadcastChannel.
    virtual std::unique_ptr<Channel> channel(std::string_view name) = 0;
    /// Opens the channel of that name for values. Returns null if the platform has no
    /// BroadcastChannel.
    virtual std::unique_ptr<ValueChannel> value_channel(std::string_view name) = 0;
    virtual Clock& clock() = 0;
    virtual Random& random() = 0;
    virtual Lifecycle& lifecycle() = 0;

  protected:
    ~World() = default;
};

}  // namespace tabacus
