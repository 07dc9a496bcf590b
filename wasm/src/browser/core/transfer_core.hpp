// TransferCore: all counters at once, and the transfer of counters, as JavaScript calls them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "browser/core/tab_core.hpp"
#include "tabacus/replica/counter_transfer.hpp"

namespace tabacus::browser {

class TransferCore {
  public:
    explicit TransferCore(TabCore& tab) : transfer_(tab.world(), tab.name_space()) {}

    void state(const std::string& counter, PromiseId promise) {
        settle(scope_, transfer_.state(counter), promise);
    }
    void values(const std::string& prefix, PromiseId promise) {
        settle(scope_, transfer_.values(prefix), promise);
    }
    void merge(const std::string& counter, std::vector<TransferredRow> rows, PromiseId promise) {
        settle(scope_, transfer_.merge(counter, std::move(rows)), promise);
    }

  private:
    CounterTransfer transfer_;
    Scope scope_;
};

}  // namespace tabacus::browser
