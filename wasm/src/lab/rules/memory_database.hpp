// MemoryDatabase: the IndexedDB of one origin, with the stores of World.
//
// Promises: if the scopes of two transactions overlap and one of them writes, they run one after
// another, in the order in which they were begun (Indexed Database API 3.0 §2.7.2 "Transaction
// scheduling"). The operations of a transaction run in their order. A transaction happens
// completely or not at all. A subject has at most one holder (a unique index). The caller chooses
// when a transaction executes its next operation.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/footprint.hpp"
#include "lab/seeded_random.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::lab {

using TransactionId = std::uint64_t;

/// The value of a row: a string, or a foreign value. No code reads the content of a foreign value.
struct StoredValue {
    std::string text;
    bool foreign = false;
    friend bool operator==(const StoredValue&, const StoredValue&) = default;
};

constexpr std::size_t store_count = 10;
using StoreRows = std::map<std::string, StoredValue, std::less<>>;
/// The rows of all stores. A claim is a row with the holder as its key and the subject as its
/// value.
using Contents = std::array<StoreRows, store_count>;

struct Operation {
    enum class Kind : std::uint8_t { get, list, put, remove, holder, claim, release, commit };
    struct Reply {
        std::optional<ErrorCode> error;
        std::vector<Row> rows;  // get, holder: none or one, with the holder as value; list: all
    };
    Kind kind;
    Store store = Store::claims;
    std::string key;  // the row's key; of list, the prefix; of claim and release, the holder
    /// The value of the row; of claim and holder, the subject; of remove, the last key of a range;
    /// of list, the first key.
    std::string value;
    std::function<void(Reply)> reply = nullptr;   // for reads and commit, whose reply is awaited
    std::uint32_t limit = Transaction::rows_max;  // list: the largest number of rows
};

class MemoryDatabase {
  public:
    /// `on_runnable(id)` is called when a transaction has an operation and may run, and again only
    /// after execute().
    MemoryDatabase(std::function<void(TransactionId)> on_runnable, FootprintRecorder& recorder)
        : on_runnable_(std::move(on_runnable)), recorder_(&recorder) {}

    /// Creates the database, with a new generation, if there is none. Returns then what the browser
    /// reports about lost data ("none", "total"); nothing if there is a database.
    std::optional<std::string> create_if_missing();

    /// Begins a transaction. The caller chooses `id`, which no other transaction may have.
    void begin(TransactionId id, Stores scope, Access access, Durability durability);
    /// Adds an operation to a transaction.
    void enqueue(TransactionId id, Operation operation);
    /// Runs the transaction's operations up to the next one with a reply, inclusive.
    void execute(TransactionId id);
    /// Aborts a transaction. Awaited reads fail with store_failed, commit() with `reason`.
    void abort(TransactionId id, ErrorCode reason);
    /// Ends the use of a transaction by its owner. Aborts it unless its commit() was called.
    void drop(TransactionId id);
    /// Whether the transaction's commit() was called.
    [[nodiscard]] bool committing(TransactionId id) const;
    [[nodiscard]] bool live(TransactionId id) const { return live_.contains(id); }
    /// Ends a transaction because its connection is lost. If `happens`, its commit() was called and
    /// the transaction may run, commits it at once. Otherwise aborts it.
    void decide(TransactionId id, bool happens);

    // Faults.

    /// Lets the n-th operation from here on fail, and with it its transaction; with `all_after`
    /// also all later operations.
    void fail_operation(std::uint64_t nth, bool all_after) {
        failing_from_ = operations_ + nth;
        failing_until_ = all_after ? UINT64_MAX : failing_from_;
    }
    /// Lets the `nth` operation from here on fail, and the `nth_after` operation after that.
    void fail_two_operations(std::uint64_t nth, std::uint64_t nth_after) {
        fail_operation(nth, false);
        failing_again_ = failing_from_ + nth_after;
    }
    void stop_failing_operations() { failing_from_ = failing_until_ = failing_again_ = 0; }
    [[nodiscard]] bool failed_operations() const { return operations_ >= failing_from_; }
    [[nodiscard]] std::uint64_t operations() const { return operations_; }
    /// Sets the limit for all keys and values together, in bytes; nothing means no limit. It is
    /// checked when a transaction commits that makes the contents larger.
    void set_quota(std::optional<std::size_t> bytes) {
        recorder_->note(Object::database, 0, AccessKind::write);
        quota_bytes_ = bytes;
    }
    /// Sets whether opening a connection fails.
    void refuse(bool refusing) {
        recorder_->note(Object::database, 0, AccessKind::write);
        refusing_ = refusing;
    }
    [[nodiscard]] bool refusing() const {
        recorder_->note(Object::database, 0, AccessKind::read);
        recorder_->observe([this] { return std::uint64_t{refusing_}; });
        return refusing_;
    }
    /// Deletes the database, and aborts all transactions.
    void lose(std::string data_loss = "none");
    /// Crashes the machine. Strict commits are kept. Of the relaxed commits after the last strict
    /// one, a random number of the first ones is kept.
    void crash(SeededRandom& random);
    /// Crashes the machine, and keeps all of those relaxed commits, or none.
    void crash(bool keep_relaxed);

    /// Returns a hash of the contents and the transactions. `with_disk`: whether it includes what a
    /// crash would leave.
    [[nodiscard]] std::uint64_t digest(bool with_disk) const;

    /// For tests: returns the number of transactions that were begun.
    [[nodiscard]] std::uint64_t transactions() const { return begun_; }
    /// For tests: returns the stored rows.
    [[nodiscard]] const StoreRows& rows(Store store) const { return contents_[index(store)]; }
    /// For tests: sets or removes a row outside of any transaction.
    void overwrite(Store store, const std::string& key, std::optional<StoredValue> value);

  private:
    void crash_keeping(std::size_t commits);

    using Key = std::pair<std::size_t, std::string>;
    using Changes = std::map<Key, std::optional<StoredValue>>;
    struct Live {
        std::uint64_t begun;  // its position in the order of beginnings
        Stores scope;
        Access access;
        Durability durability;
        std::deque<Operation> operations;
        Changes changes;
        bool announced = false;
    };

    static std::size_t index(Store store) { return static_cast<std::size_t>(store); }
    [[nodiscard]] bool may_run(const Live& transaction) const;
    void announce();
    void remove_range(Live& transaction, const Operation& operation);
    void perform(Live& transaction, Operation& operation, Operation::Reply& reply);
    /// Ends a transaction: commits it if there is no `error`, else aborts it.
    void finish(TransactionId id, std::optional<ErrorCode> error, const Operation* commit);
    [[nodiscard]] StoreRows visible(const Live& transaction, Store store) const;
    [[nodiscard]] std::optional<ErrorCode> over_quota(const Live& transaction) const;
    void keep(Live transaction);
    static void apply(Contents& contents, const Changes& changes);
    /// Returns the contents to be changed, and forgets their digest.
    Contents& contents_to_change() {
        digest_.reset();
        return contents_;
    }

    /// Adds an operation to the trace. The upper half of `id` is the tab.
    void trace(TransactionId id, const Operation& operation) const;
    void note_order(Stores scope, Access access) const;
    void note_settled(Stores scope, AccessKind access) const;

    std::function<void(TransactionId)> on_runnable_;
    FootprintRecorder* recorder_;
    bool exists_ = false;
    std::uint64_t generations_ = 0;  // the number of times that the database was created
    bool refusing_ = false;
    std::string data_loss_ = "none";
    Contents contents_;
    mutable std::optional<std::uint64_t> digest_;  // of the contents; nothing after a change
    Contents durable_;                             // what every crash keeps
    std::deque<Changes> relaxed_;                  // the commits after `durable_`, in order
    std::map<TransactionId, Live> live_;
    std::map<TransactionId, ErrorCode> aborted_;  // with the reason, until the owner drops it
    std::uint64_t begun_ = 0;
    std::uint64_t operations_ = 0;
    std::uint64_t failing_from_ = 0;
    std::uint64_t failing_until_ = 0;
    std::uint64_t failing_again_ = 0;
    std::optional<std::size_t> quota_bytes_;
};

}  // namespace tabacus::lab
