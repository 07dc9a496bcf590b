#include "browser/core/limits_core.hpp"

namespace tabacus::browser {

void LimitsCore::reserve(Sequence& sequence, double count, PromiseId promise) {
    run_in(
        scope_, sequence.reserve(static_cast<std::int64_t>(count)),
        [promise](SequenceRange range) { Resolve{promise}(range.first); }, Reject{promise});
}

void LimitsCore::take(Budget& budget, double n, PromiseId promise) {
    run_in(
        scope_, budget.take(static_cast<std::int64_t>(n)),
        [promise](bool taken) { Resolve{promise}(std::int64_t{taken}); }, Reject{promise});
}

void LimitsCore::give(Budget& budget, double n, PromiseId promise) {
    settle(scope_, budget.give(static_cast<std::int64_t>(n)), promise);
}

void LimitsCore::pass(RateLimit& rate, double timeout_ms, int request, PromiseId promise) {
    const auto timeout =
        timeout_ms >= 0 ? std::optional<double>(timeout_ms) : std::optional<double>();
    requests_.run(scope_, rate.take(requests_.begin(request), timeout), request, promise,
                  Resolve{promise});
}

void LimitsCore::try_pass(RateLimit& rate, PromiseId promise) {
    run_in(
        scope_, rate.try_take(), [promise](bool passed) { Resolve{promise}(std::int64_t{passed}); },
        Reject{promise});
}

void LimitsCore::state(const std::string& counter, PromiseId promise) {
    run_in(
        scope_, transfer_.state(counter),
        [promise](const std::vector<TransferredRow>& rows) {
            std::string texts;
            for (const auto& row : rows) texts += joined({row.node, row.record});
            Resolve{promise}(texts);
        },
        Reject{promise});
}

void LimitsCore::merge(const Texts& texts, PromiseId promise) {
    std::vector<TransferredRow> rows;
    for (std::size_t i = 1; i + 1 < texts.size(); i += 2) {
        rows.push_back({texts[i].value_or(""), texts[i + 1].value_or("")});
    }
    settle(scope_, transfer_.merge(texts[0].value_or(""), std::move(rows)), promise);
}

}  // namespace tabacus::browser
