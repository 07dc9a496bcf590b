// What JavaScript holds of limits: sequences, budgets and rate limits. Failures end here, as a code
// and a message.
#pragma once

#include <string>

#include "browser/core/abortable_requests.hpp"
#include "browser/core/counter_core.hpp"
#include "tabacus/limit/limits.hpp"
#include "tabacus/replica/counter_transfer.hpp"

namespace tabacus::browser {

class LimitsCore {
  public:
    LimitsCore(World& world, std::string_view name_space)
        : limits_(world, name_space, notify), transfer_(world, std::string(name_space)) {}

    Limits& limits() { return limits_; }
    void close(PromiseId promise) { settle(scope_, limits_.close(), promise); }
    /// Resolves with the first of them.
    void reserve(Sequence& sequence, double count, PromiseId promise);
    /// Resolves with 1 or 0.
    void take(Budget& budget, double n, PromiseId promise);
    void give(Budget& budget, double n, PromiseId promise);
    void refresh(Budget& budget, PromiseId promise) { settle(scope_, budget.refresh(), promise); }
    /// Of no limit in time: timeout_ms < 0.
    void pass(RateLimit& rate, double timeout_ms, int request, PromiseId promise);
    void try_pass(RateLimit& rate, PromiseId promise);
    void abort(int request) { requests_.abort(request); }
    /// Resolves with node and record in turn.
    void state(const std::string& counter, PromiseId promise);
    /// `texts`: the counter, then node and record in turn.
    void merge(const Texts& texts, PromiseId promise);

  private:
    Limits limits_;
    CounterTransfer transfer_;
    AbortableRequests requests_;
    Scope scope_;
};

}  // namespace tabacus::browser
