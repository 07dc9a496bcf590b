#include "browser/catalogue_core.hpp"

#include <array>
#include <charconv>
#include <utility>

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

CounterOptions options_from(const Texts& words, bool strict) {
    CounterOptions options{strategy_named(words.at(1).value_or("")).value_or(Strategy::naive),
                           strict ? Durability::strict : Durability::relaxed,
                           {}};
    for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
        const auto name = words[i].value_or("");
        const auto text = words[i + 1].value_or("");
        std::int64_t ms = 0;
        std::from_chars(text.data(), text.data() + text.size(), ms);
        for (const auto& [known, member] : times) {
            if (known == name) options.times.*member = static_cast<double>(ms);
        }
    }
    return options;
}

}  // namespace

CatalogueCore::CatalogueCore(const std::string& name_space)
    : catalogue_(world_, name_space, notify) {}

void CatalogueCore::close(PromiseId promise) { settle(scope_, catalogue_.close(), promise); }

CounterCore* CatalogueCore::counter(const Texts& words, bool strict, PromiseId promise) {
    try {
        auto& counter = catalogue_.counter(words.at(0).value_or(""), options_from(words, strict));
        counters_.push_back(std::make_unique<CounterCore>(scope_, counter));
        return counters_.back().get();
    } catch (...) {
        Reject{promise}(std::current_exception());
        return nullptr;
    }
}

}  // namespace tabacus::browser
