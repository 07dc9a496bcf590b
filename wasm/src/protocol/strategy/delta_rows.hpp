// DeltaRows: a sum in one row, and a row for each delta that is not folded into the sum yet. An
// append writes and never reads. So appends do not conflict, and a page that is being hidden can
// still issue one. Folding adds the delta rows to the sum and removes them, in one transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stored_counter.hpp"

namespace tabacus {

class DeltaRows {
  public:
    /// `key` is the key of the sum, and begins the keys of the deltas. `warn(subject)` is called
    /// with the key of a row that could not be read and was quarantined. `world` must outlive this.
    DeltaRows(World& world, std::string key, Durability durability,
              Function<void(std::string_view)> warn)
        : world_(world), key_(std::move(key)), durability_(durability), warn_(std::move(warn)) {}

    /// Writes `n`, within ±value_max, as a new row. Fails as Transaction::commit() does, and never
    /// retries: if the outcome of the commit is unknown, the row may have been folded since.
    Task<void> append(std::int64_t n);

    struct Count {
        std::int64_t sum = 0;
        /// appends() when the count's transaction began. The count has seen each of these appends
        /// that committed, and no later one, because transactions run in the order of their
        /// creation (Indexed Database API 3.0 §2.7.2).
        std::uint64_t after = 0;
    };
    /// Returns the sum of all rows. Folds the deltas if there are enough of them; the first count
    /// folds what it finds.
    Task<Count> count();

    /// Returns the number of appends that this tab has begun.
    [[nodiscard]] std::uint64_t appends() const { return appends_; }
    [[nodiscard]] Durability durability() const { return durability_; }

  private:
    struct Found {
        Count count;
        std::vector<std::string> rows;
        std::vector<Row> unreadable;
        std::optional<Row> unreadable_sum;
        [[nodiscard]] bool worth_folding(std::size_t rows_min) const;
    };
    Task<Found> scan(Access access, std::size_t rows_min);
    void fold(Transaction& transaction, const Found& found);

    World& world_;
    std::string key_;
    Durability durability_;
    Function<void(std::string_view)> warn_;
    std::uint64_t appends_ = 0;
    bool counted_ = false;  // whether this tab has counted
};

}  // namespace tabacus
