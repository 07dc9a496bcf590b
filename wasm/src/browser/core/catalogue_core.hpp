// What JavaScript holds of the catalogue: the strategies beside the default one, on a World of
// their own.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "browser/browser_world.hpp"
#include "browser/core/counter_core.hpp"
#include "tabacus/strategy/catalogue.hpp"

namespace tabacus::browser {

class CatalogueCore {
  public:
    explicit CatalogueCore(const std::string& name_space);

    void close(PromiseId promise);
    /// `arguments`: name, strategy, then names of times (js/tab/tab-options.js) and milliseconds in
    /// turn. Nothing when the strategy cannot work here: the promise is rejected before it returns.
    CounterCore* counter(const Texts& arguments, bool strict, PromiseId promise);

    BrowserWorld& world() { return world_; }

  private:
    BrowserWorld world_;
    Catalogue catalogue_;
    std::vector<std::unique_ptr<CounterCore>> counters_;
    Scope scope_;
};

}  // namespace tabacus::browser
