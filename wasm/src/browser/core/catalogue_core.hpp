// What JavaScript holds of the catalogue: the strategies beside the default one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "browser/core/counter_core.hpp"
#include "tabacus/strategy/catalogue.hpp"

namespace tabacus::browser {

class CatalogueCore {
  public:
    CatalogueCore(World& world, std::string_view name_space, StoreWatch& watch)
        : catalogue_(world, name_space, watch, notify) {}

    void close(PromiseId promise);
    /// `arguments`: name, strategy, then names of times (js/tab/tab-options.js) and milliseconds in
    /// turn. Nothing when the strategy cannot work here: the promise is rejected before it returns.
    CounterCore* counter(const Texts& arguments, bool strict, PromiseId promise);

  private:
    Catalogue catalogue_;
    std::vector<std::unique_ptr<CounterCore>> counters_;
    Scope scope_;
};

}  // namespace tabacus::browser
