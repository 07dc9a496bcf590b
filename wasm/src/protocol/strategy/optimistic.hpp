// Optimistic: value and version; a write happens only if the version is the one that was read. A
// loser reads again and retries, with whatever has gathered meanwhile in one delta. As the
// distributed-counter article has it ("optimistic locking"; Kung and Robinson, "On Optimistic
// Methods for Concurrency Control", ACM TODS 6(2), 1981).
//
// Adapted: what the article asks of a server is done by two IndexedDB transactions. A version is a
// random identifier and no number, so that a store which was lost and begun anew cannot repeat one.
//
// Guarantee: linearizable; nothing is lost. Weakness: under contention most work is done in vain.
#pragma once

#include <string>
#include <vector>

#include "stored_counter.hpp"

namespace tabacus {

struct OptimisticTimes {
    /// A loser waits a random time up to this.
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
        std::string version;  // empty: there is no row
        std::int64_t value = 0;
    };
    struct Increment {
        std::int64_t n = 0;
        Completer<std::int64_t> done;
        std::int64_t value = 0;  // once it is in the delta
    };
    Task<void> write_gathered();
    Task<void> try_once();
    static void fail_all(const std::vector<Increment>& increments, const Error& error);
    Task<bool> try_write(Versioned seen);
    /// The row, or `unreadable` filled.
    Task<Versioned> get(Transaction& transaction, std::optional<Row>* unreadable);

    std::string key_;
    Durability durability_;
    OptimisticTimes times_;
    std::vector<Increment> gathered_;
    bool writing_ = false;
    bool warned_ = false;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
