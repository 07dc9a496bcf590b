// What JavaScript holds of a tab: the protocols' Tab on the World of this context, whose results
// settle promises of JavaScript's. C++ exceptions end here, as a code and a message.
#pragma once

#include <memory>
#include <string>

#include "browser/world.hpp"
#include "tabacus/replicated.hpp"
#include "tabacus/tab.hpp"

namespace tabacus::browser {

/// The number under which JavaScript keeps a promise's two functions.
using PromiseId = int;

class CounterCore {
  public:
    CounterCore(Scope& scope, Counter& counter, ReplicatedCounter* replicated);

    /// The replicated counter's synchronous add: NaN, and no change, when out of range.
    double increment(double n);
    void add(double n, PromiseId promise);
    void read(PromiseId promise);
    void flush(PromiseId promise);
    /// Beyond ±(2^53 − 1) it is rounded, and still beyond.
    [[nodiscard]] double value() const { return static_cast<double>(counter_.value()); }
    /// The Guarantee's fields, in their order.
    void guarantee(PromiseId promise) const;

  private:
    Scope& scope_;
    Counter& counter_;
    ReplicatedCounter* replicated_;
    Subscription subscription_;
};

class TabCore {
  public:
    explicit TabCore(const std::string& name_space);

    void open(PromiseId promise);
    void close(PromiseId promise);
    /// The Capabilities' fields, in their order.
    void capabilities(PromiseId promise) const;
    /// Nothing when the strategy cannot work here: the promise is rejected before it returns.
    CounterCore* counter(const std::string& name, const std::string& strategy, bool strict,
                         PromiseId promise);

    BrowserWorld& world() { return world_; }

  private:
    BrowserWorld world_;
    Tab tab_;
    std::vector<std::unique_ptr<CounterCore>> counters_;
    Scope scope_;
};

}  // namespace tabacus::browser
