// World: what a tab has, and nothing more. A protocol sees the platform only through it, so that
// the code that runs in the user's tab is the code that the laboratory explores.
//
// Implemented by wasm/src/browser (a real tab) and wasm/src/lab (a simulated origin). Strings are
// UTF-8. Any Async may fail with tabacus::Error; the codes that a call may fail with stand beside
// it. All calls come from the tab's one thread; callbacks run on it, never inside the call that
// registers them.
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
    std::optional<std::string> key;  // nothing: the whole area was cleared
    std::optional<std::string> old_value;
    std::optional<std::string> new_value;
};

/// localStorage. Never an authority: a process may read its own stale copy (docs/decisions/0001).
class Storage {
  public:
    [[nodiscard]] virtual bool available() const = 0;
    virtual Async<std::optional<std::string>> get(std::string_view key) = 0;
    /// quota_exceeded: the old value stays.
    virtual Async<Unit> set(std::string_view key, std::string_view value) = 0;
    virtual Async<Unit> remove(std::string_view key) = 0;
    /// The keys that begin with `prefix`, in no particular order.
    virtual Async<std::vector<std::string>> keys(std::string_view prefix) = 0;
    /// Other tabs' changes of keys that begin with `prefix` (a `storage` event never reaches its
    /// writer), and that everything was cleared.
    virtual Subscription on_change(std::string_view prefix,
                                   Function<void(const StorageChange&)> callback) = 0;

  protected:
    ~Storage() = default;
};

// --- IndexedDB (Indexed Database API 3.0) ------------------------------------------------------

/// The object stores of the one database that a namespace has. A row is a string under a string
/// key.
enum class Store : std::uint8_t {
    meta,        // "generation" → the id of this incarnation, put when the database is made
    claims,      // who owns what: only through holder, claim and release
    rows,        // replicated totals
    counters,    // what the catalogue's strategies keep in one row per counter
    quarantine,  // records that could not be read ("aside" in the database)
    deltas,      // one row per increment not folded yet
    locks,       // the epoch of each lock: its newest token, and who holds it
    data,        // what applications keep under a lock's fence
    jobs,        // what queues have been asked to do
    limits,      // sequences, budgets and rate limits
};
using Stores = EnumSet<Store>;

struct Row {
    std::string key;
    std::string value;     // empty when `foreign`: our formats are never empty
    bool foreign = false;  // the stored value was not a string

    /// What is kept of it in quarantine.
    [[nodiscard]] std::string_view text() const {
        return value.empty() ? std::string_view("?") : std::string_view(value);
    }
};

enum class Access : std::uint8_t { read, write };
enum class Durability : std::uint8_t { relaxed, strict };

class Transaction;

/// Transactions that their user can abort all at once: a page that is frozen in the middle of one
/// would block the others' for as long as the browser lets it. Copies share one group.
class TransactionGroup {
    struct State : Counted {
        std::list<Transaction*> open;
        int aborted = 0;  // how often
    };

  public:
    TransactionGroup() : state_(std::make_unique<State>()) {}
    /// Aborts those that do not commit yet, also those that are being begun.
    void abort_all() const;

    /// A transaction's place in a group, from the call that begins it to its end.
    class Member {
      public:
        /// `group`: null for none.
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
        /// The transaction has begun. Aborts it if its group was aborted meanwhile.
        void begun(Transaction& transaction);

      private:
        Shared<State> state_;
        int aborted_;
        Transaction* transaction_ = nullptr;
    };

  private:
    Shared<State> state_;
};

/// One transaction. Writes do not wait: a failing one aborts the whole and shows at commit(). Reads
/// fail with store_failed once it has aborted. Destroying it before commit() aborts it.
class Transaction {
  public:
    virtual ~Transaction() = default;
    virtual Async<std::optional<Row>> get(Store store, std::string_view key) = 0;
    /// The first `limit` rows, in order of key, whose key begins with `prefix` and is not before
    /// `from` (empty, or beginning with `prefix`).
    virtual Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                         std::string_view from) = 0;
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit) {
        return list(store, prefix, limit, "");
    }
    /// All of them.
    Async<std::vector<Row>> list(Store store, std::string_view prefix) {
        return list(store, prefix, rows_max);
    }
    static constexpr std::uint32_t rows_max = UINT32_MAX;
    virtual void put(Store store, std::string_view key, std::string_view value) = 0;
    virtual void remove(Store store, std::string_view key) = 0;
    /// All rows from the key `first` to the key `last`, both included.
    virtual void remove_range(Store store, std::string_view first, std::string_view last) = 0;

    /// Claims: at most one holder per subject, enforced by a unique index, so that a commit can be
    /// fenced without waiting for a read (which a page that is being hidden cannot do).
    virtual Async<std::optional<std::string>> holder(std::string_view subject) = 0;
    /// Records `holder` as the subject's. Aborts the transaction with `fenced` when another holds
    /// it.
    virtual void claim(std::string_view subject, std::string_view holder) = 0;
    virtual void release(std::string_view holder) = 0;

    /// quota_exceeded, fenced, store_failed: nothing was written. unknown_commit: the connection
    /// died before the outcome was reported.
    virtual Async<Unit> commit() = 0;
    /// Aborts it unless commit() was called: what is read and committed from here on fails with
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
        closed,   // the connection was dropped (site data cleared, or a newer version asked for it)
        created,  // opening found no database and made one
    };
    Kind kind;
    std::string data_loss;  // created: what the browser reports ("none", "total"; Chromium only)
};

/// Linearizable, and reopened on demand after the browser dropped it.
class Database {
  public:
    /// False when the platform has none, or refused to open it when the tab was opened.
    [[nodiscard]] virtual bool available() const = 0;
    /// Opens the connection, if it is not open. store_failed when it cannot be opened.
    virtual Async<Unit> open() = 0;
    /// Ready at once while the connection is open. store_failed when it cannot be (re)opened.
    /// `group`: null if the transaction is of none.
    virtual Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access,
                                                      Durability durability,
                                                      const TransactionGroup* group) = 0;
    Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability) {
        return begin(scope, access, durability, nullptr);
    }
    /// Lets the connection go once the transactions under way have ended; begin() reopens.
    virtual void close() = 0;
    virtual Subscription on_event(Function<void(const DatabaseEvent&)> callback) = 0;

  protected:
    ~Database() = default;
};

// --- Web Locks ---------------------------------------------------------------------------------

enum class LockMode : std::uint8_t { exclusive, shared };

/// Aborts waiting requests. Copies share one signal.
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

/// Destroying it releases the lock.
class HeldLock {
  public:
    virtual ~HeldLock() = default;
    /// Called once if another context steals the lock.
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
};

class Locks {
  public:
    [[nodiscard]] virtual bool available() const = 0;
    /// Nothing when `if_available` was asked for and the lock is taken. lock_lost: the signal
    /// aborted.
    virtual Async<std::unique_ptr<HeldLock>> request(LockRequest request) = 0;
    virtual Async<LockSnapshot> query() = 0;

  protected:
    ~Locks() = default;
};

// --- BroadcastChannel, clock, randomness, lifecycle ---------------------------------------------

/// Destroying it closes the channel.
class Channel {
  public:
    virtual ~Channel() = default;
    virtual void post(std::string_view message) = 0;
    /// Posts a message that can wait some milliseconds; at the latest before the next message. It
    /// is lost if the context ends before.
    virtual void post_deferred(std::string_view message) { post(message); }
    /// Messages of others, in the order each sender posted them. A host may drop what cannot be one
    /// of ours: anything but a string, or a longer string than any of ours.
    virtual void on_message(Function<void(std::string_view)> callback) = 0;
};

class Clock {
  public:
    /// Milliseconds since the Unix epoch. May jump.
    [[nodiscard]] virtual double now_ms() const = 0;
    /// Milliseconds since some moment of this context's own; never goes back, and may stand still
    /// while the machine sleeps (High Resolution Time, W3C).
    [[nodiscard]] virtual double monotonic_ms() const = 0;
    /// At least `delay_ms`; a hidden tab's timers may run once a minute.
    virtual Async<Unit> sleep(double delay_ms) = 0;
    /// When so many microtasks have run, each queued by the one before it. `count`: 1 or more.
    virtual Async<Unit> after_microtasks(int count) = 0;
    /// When the running script has ended.
    Async<Unit> end_of_turn() { return after_microtasks(1); }

  protected:
    ~Clock() = default;
};

class Random {
  public:
    virtual std::uint64_t bits() = 0;

  protected:
    ~Random() = default;
};

enum class LifecycleEvent : std::uint8_t { hidden, visible, frozen, resumed, page_hide, page_show };

class Lifecycle {
  public:
    /// True while nobody sees the page: its timers may run once a minute. Never in a worker.
    [[nodiscard]] virtual bool hidden() const = 0;
    /// True where a page that holds a Web Lock when it is left is not kept in the back/forward
    /// cache, though its `pagehide` would let the lock go.
    [[nodiscard]] virtual bool locks_bar_cache() const = 0;
    virtual Subscription on_event(Function<void(LifecycleEvent)> callback) = 0;

  protected:
    ~Lifecycle() = default;
};

class World {
  public:
    virtual Storage& storage() = 0;
    virtual Database& database() = 0;
    virtual Locks& locks() = 0;
    /// Nothing where the platform has no BroadcastChannel.
    virtual std::unique_ptr<Channel> channel(std::string_view name) = 0;
    virtual Clock& clock() = 0;
    virtual Random& random() = 0;
    virtual Lifecycle& lifecycle() = 0;

  protected:
    ~World() = default;
};

}  // namespace tabacus
