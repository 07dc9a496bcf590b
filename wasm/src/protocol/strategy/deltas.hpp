// Deltas: every increment is a row with a unique id; a reader has a cached sum, which is counted
// again once it is older than a threshold, and counted rows are folded into one. As the
// distributed-counter article has it ("store every delta").
//
// Guarantee: nothing is lost, and no two adds wait for each other's result. Weakness: a row and a
// transaction per increment, and a read misses what others added within `threshold`.
#pragma once

#include <utility>
#include <vector>

#include "delta_rows.hpp"
#include "stored_counter.hpp"

namespace tabacus {

struct DeltasTimes {
    /// A sum older than this is counted again; 0: at every read.
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
    /// Own appends that have committed, by number, which no count is known to have seen.
    std::vector<std::pair<std::uint64_t, std::int64_t>> uncounted_;
    std::int64_t under_way_ = 0;  // own appends whose outcome is not known
};

}  // namespace tabacus
