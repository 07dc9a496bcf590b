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
    void operator()(std::int64_t value) const {
        host::promise_resolve(promise, static_cast<double>(value));
    }
    void operator()(std::string_view texts) const { host::promise_answer(promise, texts); }
};

struct Reject {
    PromiseId promise;
    void operator()(std::string_view code, std::string_view message) const {
        host::promise_reject(promise, code, message);
    }
    void operator()(const Failure& failure) const;
};

template <typename T>
void settle(Scope& scope, Task<T> task, PromiseId promise) {
    run_in(scope, std::move(task), Resolve{promise}, Reject{promise});
}

/// Texts of ours in one, parted by zero bytes.
std::string joined(std::initializer_list<std::string_view> texts);

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
    /// The Guarantee's fields, in their order; of its losses, the bits of every set of faults, and
    /// whether what was not flushed is lost.
    void guarantee(PromiseId promise) const;

  private:
    Scope& scope_;
    Counter& counter_;
    Subscription subscription_;
};

}  // namespace tabacus::browser
