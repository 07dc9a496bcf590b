// What JavaScript holds of a tab: the protocols' Tab on the World of this context.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "browser/browser_world.hpp"
#include "browser/core/counter_core.hpp"
#include "tabacus/replica/replicated.hpp"
#include "tabacus/replica/tab.hpp"

namespace tabacus::browser {

class ReplicatedCore : public CounterCore {
  public:
    ReplicatedCore(Scope& scope, ReplicatedCounter& counter)
        : CounterCore(scope, counter), replicated_(counter) {}

    /// The synchronous add: NaN, and no change, when out of range.
    double increment(double n) {
        const auto value = replicated_.increment(static_cast<std::int64_t>(n));
        return value ? static_cast<double>(*value) : __builtin_nan("");
    }

  private:
    ReplicatedCounter& replicated_;
};

class TabCore {
  public:
    TabCore(const std::string& name_space, int program);

    void open(PromiseId promise);
    void close(PromiseId promise);
    /// The Capabilities' fields, in their order.
    void capabilities(PromiseId promise) const;
    ReplicatedCore* counter(const std::string& name, bool strict);

    BrowserWorld& world() { return world_; }

  private:
    BrowserWorld world_;
    Tab tab_;
    std::vector<std::unique_ptr<ReplicatedCore>> counters_;
    Scope scope_;
};

}  // namespace tabacus::browser
