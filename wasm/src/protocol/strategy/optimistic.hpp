// Optimistic: stores a value and a version, and writes only if the version is still the one that
// was read. A tab that finds another version reads again and retries, with all increments that were
// gathered since in one delta. The distributed-counter article describes it ("optimistic locking");
// see Kung and Robinson, "On Optimistic Methods for Concurrency Control" (ACM TODS 6(2), 1981).
//
// Two things are adapted. Two IndexedDB transactions do what the article asks of a server. A
// version is a random identifier, not a number, so that no version is repeated if the store is lost
// and made anew.
//
// Guarantee: linearizable; nothing is lost. Weakness: under contention most attempts fail.
#pragma once

#include <string>
#include <vector>

#include "stored_counter.hpp"

namespace tabacus {

struct OptimisticTimes {
    /// A tab waits for a random time up to this before it retries.
    double back_off_ms = 10;
};

class OptimisticCounter final : public StoredCounter {
  public:
    OptimisticCounter(CounterLocation location, Durability durability, OptimisticTimes times);

    Task<std::int64_t> read() override;
    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;

  private:
    struct Versioned {
        std::string version;  // empty if there is no row
        std::int64_t value = 0;
    };
    struct Increment {
        std::int64_t n = 0;
        Completer<std::int64_t> done;
        std::int64_t value = 0;  // the counter's value with this increment, once it is in a delta
    };
    Task<void> write_gathered();
    Task<void> try_once();
    static void fail_all(const std::vector<Increment>& increments, const Error& error);
    Task<bool> try_write(Versioned seen);
    /// Returns the row. If it cannot be read, warns once and stores the row in `unreadable` unless
    /// that is null.
    Task<Versioned> get(Transaction& transaction, std::optional<Row>* unreadable);

    std::string key_;
    Durability durability_;
    OptimisticTimes times_;
    std::vector<Increment> gathered_;
    bool writing_ = false;
    bool warned_ = false;
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
