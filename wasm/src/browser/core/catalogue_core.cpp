#include "browser/core/catalogue_core.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "protocol/common/concat.hpp"

namespace tabacus::browser {

namespace {

constexpr std::array<std::pair<std::string_view, std::optional<double> StrategyTimes::*>, 6> times{{
    {"delay", &StrategyTimes::delay},
    {"backOff", &StrategyTimes::back_off},
    {"forceAfter", &StrategyTimes::force_after},
    {"foldAfter", &StrategyTimes::fold_after},
    {"threshold", &StrategyTimes::threshold},
    {"interval", &StrategyTimes::interval},
}};

CounterOptions options_from(const Texts& arguments, bool strict) {
    CounterOptions options{strategy_named(arguments[1].value_or("")).value_or(Strategy::naive),
                           strict ? Durability::strict : Durability::relaxed,
                           {}};
    for (std::size_t i = 2; i + 1 < arguments.size(); i += 2) {
        const auto name = arguments[i].value_or("");
        const auto text = arguments[i + 1].value_or("");
        std::int64_t ms = 0;
        std::from_chars(text.data(), text.data() + text.size(), ms);
        for (const auto& [known, member] : times) {
            if (known == name) options.times.*member = static_cast<double>(ms);
        }
    }
    return options;
}

}  // namespace

void CatalogueCore::close(PromiseId promise) { settle(scope_, catalogue_.close(), promise); }

CounterCore* CatalogueCore::counter(const Texts& arguments, bool strict, PromiseId promise) {
    const auto options = options_from(arguments, strict);
    if (const auto what = catalogue_.missing(options.strategy); !what.empty()) {
        Reject{promise}(
            code_name(ErrorCode::unavailable),
            concat({"the strategy ", strategy_name(options.strategy), " needs ", what}));
        return nullptr;
    }
    auto& counter = catalogue_.counter(arguments[0].value_or(""), options);
    counters_.push_back(std::make_unique<CounterCore>(scope_, counter));
    return counters_.back().get();
}

}  // namespace tabacus::browser
