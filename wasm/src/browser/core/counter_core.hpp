// What JavaScript holds of a counter, and how a protocol's results settle promises of JavaScript's.
// Failures end here, as a code and a message.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "browser/generated/host.hpp"
#include "tabacus/common/counter.hpp"
#include "tabacus/common/task.hpp"

namespace tabacus::browser {

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

struct Reject {
    PromiseId promise;
    void operator()(ErrorCode code, std::string_view message) const {
        host::promise_reject(promise, code, message);
    }
    void operator()(const Failure& failure) const;
};

template <typename T>
void settle(Scope& scope, Task<T> task, PromiseId promise) {
    run_in(scope, std::move(task), Resolve{promise}, Reject{promise});
}

/// Hands a notice to the host.
void notify(const Notice& notice);

class CounterCore {
  public:
    CounterCore(Scope& scope, Counter& counter);

    void add(double n, PromiseId promise);
    void read(PromiseId promise);
    void flush(PromiseId promise);
    /// Beyond ±(2^53 − 1) it is rounded, and still beyond.
    [[nodiscard]] double value() const { return static_cast<double>(counter_.value()); }
    void guarantee(PromiseId promise) const { Resolve{promise}(counter_.guarantee()); }

  private:
    Scope& scope_;
    Counter& counter_;
    Subscription subscription_;
};

}  // namespace tabacus::browser
