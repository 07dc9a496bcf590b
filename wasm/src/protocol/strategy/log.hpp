// Log: stores every increment under a key of its own, and a reader adds them up, as the Web Storage
// article describes it ("log everything"). Every key has one writer, so that no increment is
// overwritten.
//
// An elected tab folds the entries of each tab that has exited into one record. entry_log.hpp
// explains why nothing is lost if two tabs fold at once, or if a tab that was presumed dead goes
// on. A tab is presumed dead if it does not hold its liveness lock. Without Web Locks, an entry is
// folded once it is older than `fold_after`.
//
// Guarantee: no increment is lost to concurrency, in any storage model. Weakness: each increment
// takes a key while its tab lives, in a store of some 5 MB; a reader receives others' entries late;
// and the last increments of a process that dies may be lost.
#pragma once

#include <memory>
#include <string>

#include "entry_log.hpp"
#include "stored_counter.hpp"

namespace tabacus {

struct LogTimes {
    /// The time from an increment to the next check for entries to fold. Without Web Locks also the
    /// age from which an entry is folded.
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
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
