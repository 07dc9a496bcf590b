// The default counter: increments are synchronous, never block and are never lost once flushed.
//
// A PN-counter (Shapiro et al., "A comprehensive study of Convergent and Commutative Replicated
// Data Types", INRIA RR-7506, spec. 7): a row per replica with its cumulative positive and negative
// totals; the value is the sum over the rows. Rows, slots, epochs and news: docs/architecture.md.
#pragma once

#include <cstdint>
#include <optional>

#include "tabacus/common/counter.hpp"

namespace tabacus {

class Replica;
struct CounterState;

class ReplicatedCounter final : public Counter {
  public:
    /// Requires that both outlive the counter.
    ReplicatedCounter(Replica& replica, CounterState& state);
    ~ReplicatedCounter() override;
    ReplicatedCounter(const ReplicatedCounter&) = delete;
    ReplicatedCounter& operator=(const ReplicatedCounter&) = delete;
    ReplicatedCounter(ReplicatedCounter&&) = delete;
    ReplicatedCounter& operator=(ReplicatedCounter&&) = delete;

    /// Adds `n` at once, and schedules the commit and the message to other tabs. Returns the new
    /// value. If the value would leave ±value_max, changes nothing and returns nothing.
    std::optional<std::int64_t> increment(std::int64_t n);

    Task<std::int64_t> add(std::int64_t n) override;
    Task<std::int64_t> read() override;
    Task<void> flush() override;
    [[nodiscard]] std::int64_t value() const override;
    Subscription on_change(Function<void()> callback) override;
    [[nodiscard]] Guarantee guarantee() const override;

    [[nodiscard]] Replica& replica() { return replica_; }

  private:
    Replica& replica_;
    CounterState& state_;
};

}  // namespace tabacus
