// LimitStore: the rows of sequences, budgets and rate limits (Store::limits).
//
// It promises:
//  - A transaction is on the disk before a caller receives its result (durability `strict`). A
//    number or a right that was given out is not given out again after a crash.
//  - Without IndexedDB, the rows are in this page's memory, and lost with the page.
//  - A row that vanished is distinguished from one that never existed. A tab knows that a row
//    existed if the tab has seen it, or from a mark in localStorage. Because that mark reaches
//    other processes some time later, every tab that has seen the row also holds a lock, which
//    other tabs can query. If a row vanished, a tab must assume that everything was used.
//  - A row that cannot be read is moved to quarantine (Store::quarantine), with one warning, and
//    counts as vanished.
//  - A page that is frozen or left aborts its open transactions and begins no other one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/common/abortable_transactions.hpp"
#include "protocol/common/names.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class LimitStore {
  public:
    LimitStore(World& world, const Names& names, NoticeHandler on_notice)
        : world_(world), names_(names), on_notice_(std::move(on_notice)), transactions_(world) {}

    /// Whether the rows are stored. If not, they are in this page's memory.
    [[nodiscard]] bool durable() const { return world_.database().available(); }

    /// Begins a transaction; waits while the page is frozen or left. Fails with closed if the tab
    /// is closed, with unavailable after cut_off(), and as Database::begin() does.
    Task<std::unique_ptr<Transaction>> begin(Access access);

    template <typename Row>
    struct Found {
        std::optional<Row> row;
        bool vanished = false;  // whether there was a row, and it is lost
    };
    /// Reads a row. A row that cannot be read is quarantined, and counts as vanished. Requires that
    /// the transaction may write.
    template <typename Row>
    Task<Found<Row>> load(Transaction& transaction, const std::string& key,
                          std::optional<Row> (*parse)(std::string_view)) {
        const auto stored = co_await transaction.get(Store::limits, key);
        if (!stored) co_return Found<Row>{std::nullopt, co_await vanished(key)};
        auto row = parse(stored->value);
        if (!row) quarantine(transaction, *stored);
        seen_.insert(key);
        co_return Found<Row>{row, !row};
    }
    /// Copies a row that cannot be read to quarantine, and warns once for each key.
    void quarantine(Transaction& transaction, const Row& row);

    /// Whether this tab knows that the row existed, or exists.
    [[nodiscard]] bool has_seen(const std::string& key) const { return seen_.contains(key); }
    /// Marks a row that has been written as existing. `text` is what other tabs learn from the mark
    /// if the row vanishes.
    Task<void> mark(const std::string& key, std::string_view text);
    /// Returns the text of the row's last mark, by any tab; nothing if this tab sees no mark.
    Task<std::optional<std::string>> marked(const std::string& key);

    /// Runs `once`. Runs it again if its transaction aborted for a temporary reason or, with
    /// `unknown_too`, if the outcome of its commit is unknown, up to four times in all. Fails as
    /// the last run does.
    ///
    /// If this tab has not seen the row `key`, no other tab can make the row while `once` runs, so
    /// that `once` knows whether the row vanished. `key` is empty if `once` needs no such row.
    template <typename T>
    Task<T> persist(std::string key, Function<Task<T>()> once, bool unknown_too) {
        const auto birth = std::make_shared<Birth>();
        for (int tried = 1;; ++tried) {
            co_await attend(key, birth);
            auto outcome = co_await attempt(once());
            if (outcome) co_return std::move(outcome.value());
            const Error error = outcome.error();
            const auto code = error.code();
            const bool passing = code == ErrorCode::store_failed ||
                                 (unknown_too && code == ErrorCode::unknown_commit);
            if (!passing || tried == attempts_max) co_await fail(error);
        }
    }

    /// From here on begin() fails with unavailable.
    void cut_off() { cut_off_ = true; }
    void suspend();
    void resume();
    [[nodiscard]] bool suspended() const { return suspended_; }
    void close();

  private:
    static constexpr int attempts_max = 4;

    /// The right to make a row that does not exist.
    struct Birth {
        std::unique_ptr<HeldLock> lock;
    };
    Task<void> attend(std::string key, std::shared_ptr<Birth> birth);
    Task<bool> vanished(const std::string& key);
    Task<bool> there_is(std::string key);
    Task<void> be_seen(const std::string& key);

    World& world_;
    const Names& names_;
    NoticeHandler on_notice_;
    AbortableTransactions transactions_;
    std::map<std::string, std::string> memory_;                // the rows, without IndexedDB
    std::set<std::string> seen_;                               // the keys of rows that existed
    std::map<std::string, std::unique_ptr<HeldLock>> sights_;  // locks limit_seen(), by row key
    std::vector<std::weak_ptr<Birth>> births_;
    std::set<std::string> warned_;
    std::map<std::string, std::string> marks_;  // the marks of this tab, by key
    bool suspended_ = false;
    bool cut_off_ = false;
    bool closed_ = false;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
