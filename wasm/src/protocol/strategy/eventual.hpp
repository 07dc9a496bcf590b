// Eventual: a tab's value is the first value that it read, plus its own increments, plus the
// increments that it received from other tabs, as the Web Storage article describes it ("eventual
// consistency").
//
// Beside the counter's key there is a key for news. A tab that adds writes its new total under the
// counter's key, and {its total before, the increment} under the key for news. The `storage` event
// of the second write notifies the other tabs. The last total that a tab took from the store is its
// baseline. The tab ignores news with a smaller total, because the baseline includes that
// increment. If a tab's total is larger than the stored one, the tab writes its total.
//
// Two things are adapted. Increments and decrements have separate totals, because the larger of two
// totals is the later one only if totals never fall. Every piece of news is unique, because a write
// of an equal value fires no event (HTML §12.2.1).
//
// Guarantee: exact where turns are atomic (mutexed). In the other storage models, tabs that receive
// all news of each other mostly agree in the end; news that arrives while a baseline is read is
// lost or counted twice. Weakness: an increment is lost with its tab if no other tab received it.
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
        bool started = false;       // whether the first value was read
        std::int64_t baseline = 0;  // the last total that was taken from the store
        std::int64_t value = 0;
    };

    // The laboratory overrides these two with the faults of the article's code
    // (lab/article_faults.hpp).

    [[nodiscard]] virtual bool has_baseline(const Total& total) const { return total.started; }
    /// Returns a text that makes a piece of news differ from all others.
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
    Scope scope_;  // last, because its tasks use all of the above
};

}  // namespace tabacus
