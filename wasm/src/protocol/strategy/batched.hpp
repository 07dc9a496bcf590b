// Batched: increments are gathered in memory, and written as one delta per interval. As the
// distributed-counter article has it ("delayed batched requests").
//
// Guarantee: nothing that was flushed is lost. Weakness, and the point of it: what was added in the
// last `interval` dies with its tab, unless the tab was hidden, frozen or left in time to write it.
#pragma once

#include <exception>
#include <vector>

#include "delta_rows.hpp"
#include "stored_counter.hpp"

namespace tabacus {

struct BatchedTimes {
    double interval_ms = 1000;
};

class BatchedCounter final : public StoredCounter {
  public:
    BatchedCounter(CounterLocation location, Durability durability, BatchedTimes times);

    /// The store's sum, with what this tab has gathered.
    Task<std::int64_t> read() override;
    /// Writes at once. A commit whose outcome is unknown fails one flush with unknown_commit; what
    /// was not written for another reason stays gathered.
    Task<void> flush() override;
    [[nodiscard]] Guarantee guarantee() const override;
    void on_lifecycle(LifecycleEvent event) override;

  protected:
    /// Ends once the increment is gathered; flush() once it is committed.
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
    /// Under way, or committed and not known to be in the count.
    std::vector<Written> written_;
    int writing_ = 0;
    std::optional<Error> unknown_;  // a commit's outcome is unknown, and no flush has failed for it
    bool timer_ = false;
    std::vector<Completer<Unit>> waiters_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
