// Transactional: one IndexedDB read-write transaction per increment ("Indexed DB" in the Web
// Storage article). Transactions over one store run one after another (Indexed Database API 3.0,
// §2.7.2).
//
// Guarantee: linearizable; nothing is lost. Weakness: a transaction each, about 2,000 a second over
// all tabs.
#pragma once

#include <string>

#include "stored_counter.hpp"

namespace tabacus {

class TransactionalCounter final : public StoredCounter {
  public:
    TransactionalCounter(CounterLocation location, Durability durability);

    /// Other tabs' increments are noticed when this tab reads or adds.
    Task<std::int64_t> read() override;
    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;

  private:
    void warn_once();
    void quarantine(Transaction& transaction, const Row& row);

    std::string key_;
    Durability durability_;
    bool warned_ = false;
};

}  // namespace tabacus
