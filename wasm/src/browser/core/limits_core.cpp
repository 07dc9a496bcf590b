#include "browser/core/limits_core.hpp"

namespace tabacus::browser {

void LimitsCore::reserve(Sequence& sequence, std::int64_t count, PromiseId promise) {
    run_in(
        scope_, sequence.reserve(count),
        [promise](SequenceRange range) { Resolve{promise}(range.first); }, Reject{promise});
}

void LimitsCore::pass(RateLimit& rate, std::optional<double> timeout_ms, int request,
                      PromiseId promise) {
    requests_.run(scope_, rate.take(requests_.begin(request), timeout_ms), request, promise,
                  Resolve{promise});
}

}  // namespace tabacus::browser
