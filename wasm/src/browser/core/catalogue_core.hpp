// CatalogueCore: the catalogue, as JavaScript calls it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "browser/core/counter_core.hpp"
#include "tabacus/strategy/catalogue.hpp"

namespace tabacus::browser {

class CatalogueCore {
  public:
    CatalogueCore(World& world, std::string_view name_space, StoreLossDetector& loss_detector)
        : catalogue_(world, name_space, loss_detector, notify), loss_detector_(loss_detector) {}

    void close(PromiseId promise);
    /// Resolves the promise with the counter's address, or rejects it with unavailable if the
    /// platform lacks what the strategy needs. Settles it before this function returns.
    void counter(const std::string& name, const CounterOptions& options, PromiseId promise);

  private:
    Catalogue catalogue_;
    StoreLossDetector& loss_detector_;
    std::vector<std::unique_ptr<CounterCore>> counters_;
    Scope scope_;
};

}  // namespace tabacus::browser
