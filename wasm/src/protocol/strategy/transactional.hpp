// Transactional: each increment is one read-write transaction of IndexedDB ("Indexed DB" in the Web
// Storage article). Read-write transactions over one store run one after another (Indexed Database
// API 3.0, §2.7.2).
//
// Guarantee: linearizable; nothing is lost. Weakness: each increment costs a transaction, so that
// all tabs together reach about 2,000 increments a second.
#pragma once

#include <string>

#include "stored_counter.hpp"

namespace tabacus {

class TransactionalCounter final : public StoredCounter {
  public:
    TransactionalCounter(CounterLocation location, Durability durability);

    /// Returns the stored value. This tab sees increments of other tabs only when it reads or adds.
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
