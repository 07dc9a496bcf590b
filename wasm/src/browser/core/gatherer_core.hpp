// GathererCore: a gatherer of what threads add to a counter, as JavaScript calls it.
#pragma once

#include <cstdint>

#include "browser/core/tab_core.hpp"
#include "tabacus/replica/gatherer.hpp"

namespace tabacus::browser {

/// The cells of a counter in memory that only JavaScript can reach.
class HostCells final : public SharedCells {
  public:
    explicit HostCells(int number) : number_(number) {}
    std::int64_t gather() override {
        return static_cast<std::int64_t>(host::cells_gather(number_));
    }
    void take(std::int64_t n) override { host::cells_take(number_, static_cast<double>(n)); }
    void publish(std::int64_t value) override {
        host::cells_publish(number_, static_cast<double>(value));
    }

  private:
    int number_;
};

class GathererCore {
  public:
    GathererCore(ReplicatedCore& counter, int cells)
        : cells_(cells), gatherer_(counter.replicated(), cells_) {}

    bool gather() { return gatherer_.gather(); }
    void read(PromiseId promise) { settle(scope_, gatherer_.read(), promise); }
    void flush(PromiseId promise) { settle(scope_, gatherer_.flush(), promise); }

  private:
    HostCells cells_;
    Gatherer gatherer_;
    Scope scope_;
};

}  // namespace tabacus::browser
