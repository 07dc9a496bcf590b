// AbortableRequests: the pending requests that JavaScript may abort. It identifies each by a
// number.
#pragma once

#include <map>
#include <utility>

#include "browser/core/counter_core.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class AbortableRequests {
  public:
    /// Begins a request. Returns its signal, which abort() aborts.
    AbortSignal begin(int request) { return signals_[request]; }

    void abort(int request) {
        const auto found = signals_.find(request);
        if (found == signals_.end()) return;
        const auto signal = found->second;  // a copy, because the request may end within abort()
        signal.abort();
    }

    /// Runs the task of a request. Ends the request before it calls `on_value` with the result. If
    /// the task fails, rejects the promise.
    template <typename T, typename OnValue>
    void run(Scope& scope, Task<T> task, int request, PromiseId promise, OnValue on_value) {
        run_in(
            scope, std::move(task),
            [this, request, on_value = std::move(on_value)](auto&&... value) {
                signals_.erase(request);
                on_value(std::forward<decltype(value)>(value)...);
            },
            [this, request, promise](const Failure& error) {
                signals_.erase(request);
                Reject{promise}(error);
            });
    }

  private:
    std::map<int, AbortSignal> signals_;
};

}  // namespace tabacus::browser
