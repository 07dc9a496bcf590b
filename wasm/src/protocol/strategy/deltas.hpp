// Deltas: stores every increment as a row with a unique id, as the distributed-counter article
// describes it ("store every delta"). A reader caches the sum, and counts again once the sum is
// older than a threshold. Counted rows are folded into one.
//
// Guarantee: nothing is lost, and no add() waits for the result of another one. Weakness: each
// increment takes a row and a transaction, and a read misses what others added within `threshold`.
#pragma once

#include <utility>
#include <vector>

#include "delta_rows.hpp"
#include "stored_counter.hpp"

namespace tabacus {

struct DeltasTimes {
    /// A sum that is older than this is counted again. With 0, every read counts.
    double threshold_ms = 1000;
};

class DeltasCounter final : public StoredCounter {
  public:
    DeltasCounter(CounterLocation location, Durability durability, DeltasTimes times);

    Task<std::int64_t> read() override;
    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;

  private:
    Task<void> count_if_stale();
    void added(std::uint64_t append, std::int64_t n);

    DeltasTimes times_;
    DeltaRows rows_;
    std::optional<double> counted_ms_;
    std::uint64_t counted_after_ = 0;
    /// The number and the amount of each of this tab's appends that committed after the last count
    /// began.
    std::vector<std::pair<std::uint64_t, std::int64_t>> uncounted_;
    std::int64_t under_way_ = 0;  // the sum of this tab's appends that have not ended
};

}  // namespace tabacus
