// LimitsCore: sequences, budgets and rate limits, as JavaScript calls them. It passes each result to a
// promise.
#pragma once

#include <optional>
#include <string>

#include "browser/core/abortable_requests.hpp"
#include "browser/core/counter_core.hpp"
#include "tabacus/limit/limits.hpp"

namespace tabacus::browser {

class LimitsCore {
  public:
    LimitsCore(World& world, std::string_view name_space) : limits_(world, name_space, notify) {}

    Limits& limits() { return limits_; }
    void close(PromiseId promise) { settle(scope_, limits_.close(), promise); }
    Sequence* sequence(const std::string& name, std::int64_t block, bool gapless) {
        return &limits_.sequence(name, {.block = block, .gapless = gapless});
    }
    Budget* budget(const std::string& name, std::int64_t limit) {
        return &limits_.budget(name, limit);
    }
    RateLimit* rate_limit(const std::string& name, std::int64_t limit, std::int64_t interval_ms) {
        return &limits_.rate_limit(name, limit, interval_ms);
    }
    /// Resolves with the first of the reserved numbers.
    void reserve(Sequence& sequence, std::int64_t count, PromiseId promise);
    void take(Budget& budget, std::int64_t n, PromiseId promise) {
        settle(scope_, budget.take(n), promise);
    }
    void give(Budget& budget, std::int64_t n, PromiseId promise) {
        settle(scope_, budget.give(n), promise);
    }
    void refresh(Budget& budget, PromiseId promise) { settle(scope_, budget.refresh(), promise); }
    void pass(RateLimit& rate, std::optional<double> timeout_ms, int request, PromiseId promise);
    void try_pass(RateLimit& rate, PromiseId promise) { settle(scope_, rate.try_take(), promise); }
    void abort(int request) { requests_.abort(request); }

  private:
    Limits limits_;
    AbortableRequests requests_;
    Scope scope_;
};

}  // namespace tabacus::browser
