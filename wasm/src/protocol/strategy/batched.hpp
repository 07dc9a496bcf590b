// Batched: gathers increments in memory and writes them as one delta per interval, as the
// distributed-counter article describes it ("delayed batched requests").
//
// Guarantee: nothing that was flushed is lost. Weakness: the increments of the last `interval` are
// lost if the tab dies. A tab that is hidden, frozen or left writes them at once.
#pragma once

#include <exception>
#include <vector>

#include "delta_rows.hpp"
#include "stored_counter.hpp"

namespace tabacus {

struct BatchedTimes {
    double interval_ms = 1000;  // the time from an increment to the write of its delta
};

class BatchedCounter final : public StoredCounter {
  public:
    BatchedCounter(CounterLocation location, Durability durability, BatchedTimes times);

    /// Returns the store's sum with the increments that this tab has gathered.
    Task<std::int64_t> read() override;
    /// Writes the gathered increments at once. Fails with unknown_commit, once, if the outcome of a
    /// commit is unknown. Any other failure leaves the increments gathered.
    Task<void> flush() override;
    [[nodiscard]] Guarantee guarantee() const override;
    void on_lifecycle(LifecycleEvent event) override;

  protected:
    /// Returns once the increment is gathered. flush() commits it.
    Task<std::int64_t> store(std::int64_t n) override;
    [[nodiscard]] bool in_store_once_added() const override { return false; }

  private:
    struct Written {
        std::uint64_t append;
        std::int64_t n;
        bool committed;
    };
    Task<void> recount();
    Task<void> write_later();
    Task<void> write();
    Task<void> write_quietly();
    void settle(std::uint64_t append, bool committed);
    void revalue();

    BatchedTimes times_;
    DeltaRows rows_;
    bool counted_ = false;
    DeltaRows::Count count_;
    std::int64_t gathered_ = 0;
    /// The appends that have not ended, or that committed after `count_` began.
    std::vector<Written> written_;
    int writing_ = 0;
    std::optional<Error> unknown_;  // an unknown outcome that no flush has reported yet
    bool timer_ = false;
    std::vector<Completer<Unit>> waiters_;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
