// Eventual: the first value read, plus own increments, plus the increments received from others, as
// the Web Storage article has it ("eventual consistency").
//
// Beside the counter's key lies a key for news. A tab that adds writes its total under the one, and
// {its total before, the increment} under the other, whose `storage` event notifies the others. The
// total that a tab has from the store is its baseline; news with an older one was counted in it and
// is ignored. The larger total is written back.
//
// Adapted: increments and decrements are totals of their own, since only of totals that grow the
// larger one is the later one; every piece of news is unique, since an equal write fires no event
// (HTML §12.2.1).
//
// Guarantee: exact where turns are atomic (mutexed). Elsewhere tabs that receive all news of each
// other agree in the end, mostly: news that crosses a baseline is lost, or counted twice. Weakness:
// what a tab added is lost with it if no other tab received it.
#pragma once

#include <string>

#include "stored_counter.hpp"

namespace tabacus {

class EventualCounter : public StoredCounter {
  public:
    explicit EventualCounter(CounterLocation location);

    Task<std::int64_t> read() override;
    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;
    /// A total that only grows: of the increments, or of the decrements.
    struct Total {
        std::string key;
        bool started = false;       // its first value was read
        std::int64_t baseline = 0;  // what the store held when it was last believed
        std::int64_t value = 0;
    };

    // What the article's code got wrong (lab/article_faults.hpp).
    [[nodiscard]] virtual bool has_baseline(const Total& total) const { return total.started; }
    /// Makes a piece of news differ from all others.
    virtual std::string stamp();

  private:
    Task<void> start();
    Task<std::optional<std::string>> adopt(Total& total);
    Task<void> quarantine_total(std::string key, std::string text);
    Task<void> write_back(Total& total);
    void on_storage(const StorageChange& change);
    void apply_news(Total& total, std::string_view news);
    void see_both() { see(plus_.value - minus_.value); }

    Total plus_;
    Total minus_;
    Subscription changes_;
    Scope scope_;  // last: what runs in it uses all of the above
};

}  // namespace tabacus
