// DeltaRows: a sum kept as one row and, beside it, a row for each delta that is not folded into it
// yet. Appending only writes and never reads, so appends do not conflict, and one can be issued
// while a page is being hidden. Folding moves rows into the sum in one transaction.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stored_counter.hpp"

namespace tabacus {

class DeltaRows {
  public:
    /// `key` begins the keys of its rows. `warn(subject)`: a row cannot be read and is in
    /// quarantine.
    DeltaRows(World& world, std::string key, Durability durability,
              Function<void(std::string_view)> warn)
        : world_(world), key_(std::move(key)), durability_(durability), warn_(std::move(warn)) {}

    /// Writes a row of its own. A failure is reported as it is, and never retried here: a row whose
    /// commit is unknown may have been folded by now.
    Task<void> append(std::int64_t n);

    struct Count {
        std::int64_t sum = 0;
        /// appends() when the count's transaction began: it has seen those that committed, and no
        /// later one (Indexed Database API 3.0 §2.7.2: transactions run in the order of their
        /// creation).
        std::uint64_t after = 0;
    };
    /// The sum; folds where there is enough to fold.
    Task<Count> count();

    /// How many appends this tab has begun.
    [[nodiscard]] std::uint64_t appends() const { return appends_; }
    [[nodiscard]] Durability durability() const { return durability_; }

  private:
    struct Found {
        Count count;
        std::vector<std::string> rows;
        std::vector<Row> unreadable;
        std::optional<Row> unreadable_sum;
        [[nodiscard]] bool worth_folding() const;
    };
    Task<Found> scan(Access access);
    void fold(Transaction& transaction, const Found& found);

    World& world_;
    std::string key_;
    Durability durability_;
    Function<void(std::string_view)> warn_;
    std::uint64_t appends_ = 0;
};

}  // namespace tabacus
