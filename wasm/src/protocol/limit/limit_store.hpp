// LimitStore: how sequences, budgets and rate limits read and write their rows (Store::limits).
//
// It promises:
//  - What a transaction wrote is on the disk before a caller receives it (durability `strict`): an
//    id or a right that was given out is not given out again after a crash.
//  - Without IndexedDB the rows are this page's own, and gone with it.
//  - A row that vanished is distinguished from one that never was: by what this tab has seen, by a
//    mark in localStorage, and, since that mark reaches other processes some time later, by locks
//    that the tabs hold which have seen it. A tab that finds a row vanished must assume the worst.
//  - A row that cannot be read is moved to quarantine (Store::quarantine), with one warning, and
//    counts as vanished.
//  - A page that is frozen or hidden aborts what it has under way, and begins nothing.
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

    /// False: the rows live in this page's memory.
    [[nodiscard]] bool durable() const { return world_.database().available(); }

    /// closed: the tab was closed. Waits while the page sleeps.
    Task<std::unique_ptr<Transaction>> begin(Access access);

    template <typename Row>
    struct Found {
        std::optional<Row> row;
        bool vanished = false;  // there was one
    };
    /// A row, in a transaction that may write.
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
    void quarantine(Transaction& transaction, const Row& row);

    /// Once a row has been written: `text` is what is known of it if it vanishes.
    Task<void> mark(const std::string& key, std::string_view text);
    /// Returns what mark() last received for the row, in any tab; nothing if that is not known.
    Task<std::optional<std::string>> marked(const std::string& key);

    /// Runs `once` again when its transaction aborted for a passing reason, or, if `unknown_too`,
    /// when its outcome is unknown. If this tab knows of no row `key`, no other tab makes one
    /// meanwhile, and whether one vanished is known. Empty: no row is meant.
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

    void suspend();
    void resume();
    [[nodiscard]] bool suspended() const { return suspended_; }
    void close();

  private:
    static constexpr int attempts_max = 4;

    /// The right to make a row.
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
    std::map<std::string, std::string> memory_;  // the rows, where there is no IndexedDB
    std::set<std::string> seen_;
    std::map<std::string, std::unique_ptr<HeldLock>> sights_;  // by key
    std::vector<std::weak_ptr<Birth>> births_;
    std::set<std::string> warned_;
    std::map<std::string, std::string> marks_;  // what this tab has marked
    bool suspended_ = false;
    bool closed_ = false;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
