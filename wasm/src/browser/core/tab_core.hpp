// TabCore: the protocols' Tab on the World of this context, as JavaScript calls it.
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

    /// Adds without waiting, and returns the value. Returns NaN and adds nothing if the value would
    /// be out of range.
    double increment(double n) {
        const auto value = replicated_.increment(static_cast<std::int64_t>(n));
        return value ? static_cast<double>(*value) : __builtin_nan("");
    }

    ReplicatedCounter& replicated() { return replicated_; }

  private:
    ReplicatedCounter& replicated_;
};

class TabCore {
  public:
    explicit TabCore(std::string name_space);

    void open(PromiseId promise);
    void close(PromiseId promise);
    void capabilities(PromiseId promise) const { Resolve{promise}(tab_.capabilities()); }
    ReplicatedCore* counter(const std::string& name, Durability durability);

    BrowserWorld& world() { return world_; }
    [[nodiscard]] const std::string& name_space() const { return name_space_; }

  private:
    std::string name_space_;
    BrowserWorld world_;
    Tab tab_;
    std::vector<std::unique_ptr<ReplicatedCore>> counters_;
    Scope scope_;
};

}  // namespace tabacus::browser
