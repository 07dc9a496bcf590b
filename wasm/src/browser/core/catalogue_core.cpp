#include "browser/core/catalogue_core.hpp"

#include "protocol/common/concat.hpp"
#include "protocol/common/store_loss_detector.hpp"

namespace tabacus::browser {

void CatalogueCore::close(PromiseId promise) { settle(scope_, catalogue_.close(), promise); }

void CatalogueCore::counter(const std::string& name, const CounterOptions& options,
                            PromiseId promise) {
    if (const auto what = catalogue_.missing(options.strategy); !what.empty()) {
        Reject{promise}(
            ErrorCode::unavailable,
            concat({"the strategy ", strategy_name(options.strategy), " needs ", what}));
        return;
    }
    // The strategies that take locks must learn whether the tab is cut off.
    if (options.strategy == Strategy::locked || options.strategy == Strategy::log)
        loss_detector_.start();
    auto& counter = catalogue_.counter(name, options);
    counters_.push_back(std::make_unique<CounterCore>(scope_, counter));
    Resolve{promise}(reinterpret_cast<std::uintptr_t>(counters_.back().get()));
}

}  // namespace tabacus::browser
