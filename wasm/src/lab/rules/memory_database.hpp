// MemoryDatabase: one origin's IndexedDB, with the stores that World knows.
//
// Promises: transactions whose scopes overlap, one of them writing, run one after another in the
// order they were begun (Indexed Database API 3.0 §2.7.2 "Transaction scheduling"); operations of
// one run in their order; a transaction happens whole or not at all; at most one holder has a
// subject (a unique index). When a transaction executes its next operation is the caller's choice.
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

/// What a store holds under a key: a string, or a foreign value whose content nobody reads.
struct StoredValue {
    std::string text;
    bool foreign = false;
    friend bool operator==(const StoredValue&, const StoredValue&) = default;
};

constexpr std::size_t store_count = 10;
using StoreRows = std::map<std::string, StoredValue, std::less<>>;
/// Claims are kept as holder → subject.
using Contents = std::array<StoreRows, store_count>;

struct Operation {
    enum class Kind : std::uint8_t { get, list, put, remove, holder, claim, release, commit };
    struct Reply {
        std::optional<ErrorCode> error;
        std::vector<Row> rows;  // get: none or one; list: all; holder: its value is the holder
    };
    Kind kind;
    Store store = Store::claims;
    std::string key;  // of the row; of claims, the holder (holder: the subject)
    /// The value of the row; claims: the subject; remove: the last key of a range; list: the first.
    std::string value;
    std::function<void(Reply)> reply = nullptr;   // for what is waited for: reads and commit
    std::uint32_t limit = Transaction::rows_max;  // list: rows at most
};

class MemoryDatabase {
  public:
    /// `on_runnable(id)`: the transaction may run and has something to do. Called once until
    /// execute().
    MemoryDatabase(std::function<void(TransactionId)> on_runnable, FootprintRecorder& recorder)
        : on_runnable_(std::move(on_runnable)), recorder_(&recorder) {}

    /// Creates the database, with a generation of its own, if there is none, and returns then what
    /// the browser reports of lost data.
    std::optional<std::string> create_if_missing();

    /// `id` is the caller's to choose, and nobody else's.
    void begin(TransactionId id, Stores scope, Access access, Durability durability);
    void enqueue(TransactionId id, Operation operation);
    /// Runs the transaction's operations up to and with the next one that somebody waits for.
    void execute(TransactionId id);
    /// Undoes everything; what is waited for fails with store_failed, commit() with `reason`.
    void abort(TransactionId id, ErrorCode reason);
    /// Its owner asks no more of it: a live one aborts, unless its commit() was called.
    void drop(TransactionId id);
    /// True when its commit() was called.
    [[nodiscard]] bool committing(TransactionId id) const;
    [[nodiscard]] bool live(TransactionId id) const { return live_.contains(id); }
    /// The connection behind it is gone: what waits to commit does so at once, if `happens` and its
    /// turn has come, and else aborts.
    void decide(TransactionId id, bool happens);

    // Faults.
    /// The n-th operation from here on fails, and its transaction with it; or all from the n-th on.
    void fail_operation(std::uint64_t nth, bool all_after) {
        failing_from_ = operations_ + nth;
        failing_until_ = all_after ? UINT64_MAX : failing_from_;
    }
    /// The n-th operation from here on fails, and once more the n-th after that one.
    void fail_two_operations(std::uint64_t nth, std::uint64_t nth_after) {
        fail_operation(nth, false);
        failing_again_ = failing_from_ + nth_after;
    }
    void stop_failing_operations() { failing_from_ = failing_until_ = failing_again_ = 0; }
    [[nodiscard]] bool failed_operations() const { return operations_ >= failing_from_; }
    [[nodiscard]] std::uint64_t operations() const { return operations_; }
    /// Keys and values together, in bytes. Enforced when a transaction that grows commits.
    void set_quota(std::optional<std::size_t> bytes) {
        recorder_->note(Object::database, 0, AccessKind::write);
        quota_bytes_ = bytes;
    }
    /// Whether connections cannot be opened.
    void refuse(bool refusing) {
        recorder_->note(Object::database, 0, AccessKind::write);
        refusing_ = refusing;
    }
    [[nodiscard]] bool refusing() const {
        recorder_->note(Object::database, 0, AccessKind::read);
        recorder_->observe([this] { return std::uint64_t{refusing_}; });
        return refusing_;
    }
    /// The database is gone, and all transactions with it.
    void lose(std::string data_loss = "none");
    /// The machine went down: strict commits stay, of the relaxed ones after the last strict one
    /// only the first few.
    void crash(SeededRandom& random);
    /// All of those, or none.
    void crash(bool keep_relaxed);

    /// Returns a hash of all that there is; with what a crash would leave, if one may come.
    [[nodiscard]] std::uint64_t digest(bool with_disk) const;

    /// For tests: how many transactions were begun.
    [[nodiscard]] std::uint64_t transactions() const { return begun_; }
    /// For tests: to read what is stored, and to corrupt it.
    [[nodiscard]] const StoreRows& rows(Store store) const { return contents_[index(store)]; }
    void overwrite(Store store, const std::string& key, std::optional<StoredValue> value);

  private:
    void crash_keeping(std::size_t commits);

    using Key = std::pair<std::size_t, std::string>;
    using Changes = std::map<Key, std::optional<StoredValue>>;
    struct Live {
        std::uint64_t begun;  // in this order
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
    /// Commits or aborts, for good. Nothing of the transaction remains.
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

    /// The tab is in the upper half of `id`.
    void trace(TransactionId id, const Operation& operation) const;
    void note_order(Stores scope, Access access) const;
    void note_settled(Stores scope, AccessKind access) const;

    std::function<void(TransactionId)> on_runnable_;
    FootprintRecorder* recorder_;
    bool exists_ = false;
    std::uint64_t generations_ = 0;  // how often it was created
    bool refusing_ = false;
    std::string data_loss_ = "none";
    Contents contents_;
    mutable std::optional<std::uint64_t> digest_;  // of the contents, since they last changed
    Contents durable_;                             // what a crash is sure to leave
    std::deque<Changes> relaxed_;                  // commits after that, in order
    std::map<TransactionId, Live> live_;
    std::map<TransactionId, ErrorCode> aborted_;  // and why, until they are dropped
    std::uint64_t begun_ = 0;
    std::uint64_t operations_ = 0;
    std::uint64_t failing_from_ = 0;
    std::uint64_t failing_until_ = 0;
    std::uint64_t failing_again_ = 0;
    std::optional<std::size_t> quota_bytes_;
};

}  // namespace tabacus::lab
