// Log: every increment is appended under a key of its own, and a reader sums, as the Web Storage
// article has it ("log everything"). Every key has one writer, so nothing is ever overwritten.
//
// A tab that is elected folds the entries of tabs that are gone into one record each (entry_log.hpp
// explains why nothing is lost if two fold, or if a tab that was thought gone goes on). A tab is
// gone if it does not hold its liveness lock; without Web Locks, an entry's age decides.
//
// Guarantee: never loses to concurrency, in any storage model. Weakness: a key per increment while
// its tab lives, in a store of some 5 MB; a reader receives others' entries late, and the last
// increments of a process that dies may not have left it.
#pragma once

#include <memory>
#include <string>

#include "entry_log.hpp"
#include "stored_counter.hpp"

namespace tabacus {

struct LogTimes {
    /// How long after an increment a tab checks for entries to fold; without Web Locks also how
    /// old these must be.
    double fold_after_ms = 10'000;
};

class LogCounter final : public StoredCounter {
  public:
    LogCounter(CounterLocation location, LogTimes times);

    Task<std::int64_t> read() override;
    [[nodiscard]] Guarantee guarantee() const override;
    void on_lifecycle(LifecycleEvent event) override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;

  private:
    Task<EntryLog> scan();
    Task<void> recount();
    Task<void> quarantine_entry(std::string key, std::string text);
    void on_storage(const StorageChange& change);

    void hold_liveness();
    Task<void> take_liveness(AbortSignal signal);
    Task<void> fold_later();
    Task<void> fold();
    Task<void> fold_tab(std::string id, EntryLog::Tab tab, bool gone);

    LogTimes times_;
    std::string prefix_;  // of the keys in storage
    std::string locks_;   // of the locks' names
    std::string id_;      // this tab's
    EntryLog log_;
    bool counted_ = false;
    std::int64_t last_number_ = 0;
    bool folding_ = false;
    bool suspended_ = false;
    std::unique_ptr<HeldLock> liveness_;
    std::unique_ptr<AbortSignal> requested_;
    Subscription changes_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
