// What JavaScript holds of a tab: the protocols' Tab on the World of this context, with every result
// handed to a pair of JavaScript functions. C++ exceptions end here, as a code and a message.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

#include "browser/world.hpp"
#include "tabacus/replicated.hpp"
#include "tabacus/tab.hpp"

namespace tabacus::browser {

class CounterCore {
 public:
    CounterCore(Scope& scope, Counter& counter, ReplicatedCounter* replicated)
        : scope_(scope), counter_(counter), replicated_(replicated) {}

    /// The replicated counter's synchronous add: NaN, and no change, when out of range.
    double increment(double n);
    void add(double n, emscripten::val resolve, emscripten::val reject);
    void read(emscripten::val resolve, emscripten::val reject);
    void flush(emscripten::val resolve, emscripten::val reject);
    /// Beyond ±(2^53 − 1) it is rounded, and still beyond.
    [[nodiscard]] double value() const;
    void on_change(emscripten::val callback);
    /// The Guarantee's fields, in their order.
    [[nodiscard]] emscripten::val guarantee() const;

 private:
    Scope& scope_;
    Counter& counter_;
    ReplicatedCounter* replicated_;
    Subscription subscription_;
};

class TabCore {
 public:
    /// `on_notice` gets a Notice's fields, in their order; its kind as "warning" or "storelost".
    TabCore(const emscripten::val& host, const std::string& name_space, emscripten::val on_notice);

    void open(emscripten::val resolve, emscripten::val reject);
    void close(emscripten::val resolve, emscripten::val reject);
    /// The Capabilities' fields, in their order.
    [[nodiscard]] emscripten::val capabilities() const;
    /// Nothing when the strategy is unknown or cannot work here: `reject` says which, before it returns.
    std::unique_ptr<CounterCore> counter(const std::string& name, const std::string& strategy,
                                         bool strict, emscripten::val reject);

    // What the host reports.
    void settle(int operation, bool ok, const emscripten::val& answer);
    void storage_changed(const emscripten::val& key, const emscripten::val& old_value,
                         const emscripten::val& new_value);
    void database_created(const std::string& data_loss);
    void database_closed();
    void lock_lost(int request);
    void message(int channel, const std::string& text);
    void lifecycle(int event);

 private:
    BrowserWorld world_;
    Tab tab_;
    Scope scope_;
};

}  // namespace tabacus::browser
