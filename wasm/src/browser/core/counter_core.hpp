// CounterCore: a counter, as JavaScript calls it. Also settle(), with which every core passes the
// result of a protocol to a promise of JavaScript. A failure is passed as a code and a message.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "browser/generated/host.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus::browser {

/// Resolves a promise with a number, or with a packed value.
struct Resolve {
    PromiseId promise;
    void operator()() const { host::promise_resolve(promise, 0); }
    template <typename T>
    void operator()(const T& answer) const {
        if constexpr (std::is_arithmetic_v<T>) {
            host::promise_resolve(promise, static_cast<double>(answer));
        } else {
            Packer to;
            pack(to, answer);
            host::promise_answer(promise, to.packed());
        }
    }
};

/// Rejects a promise with a code and a message.
struct Reject {
    PromiseId promise;
    void operator()(ErrorCode code, std::string_view message) const {
        host::promise_reject(promise, code, message);
    }
    void operator()(const Failure& failure) const;
};

/// Runs a task, and settles the promise with its outcome.
template <typename T>
void settle(Scope& scope, Task<T> task, PromiseId promise) {
    run_in(scope, std::move(task), Resolve{promise}, Reject{promise});
}

/// Passes a notice to the host.
void notify(const Notice& notice);

class CounterCore {
  public:
    CounterCore(Scope& scope, Counter& counter) : scope_(scope), counter_(counter) {}

    void add(double n, PromiseId promise);
    void read(PromiseId promise);
    void flush(PromiseId promise);
    /// Returns the value as a number. A value beyond ±(2^53 − 1) is rounded, and stays beyond it.
    /// From the first call on, the host learns of each change.
    [[nodiscard]] double value();
    void guarantee(PromiseId promise) const { Resolve{promise}(counter_.guarantee()); }

  private:
    Scope& scope_;
    Counter& counter_;
    bool followed_ = false;
    Subscription subscription_;
};

}  // namespace tabacus::browser
