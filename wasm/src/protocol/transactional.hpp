// Transactional: one IndexedDB read-write transaction per increment ("Indexed DB" in the Web
// Storage article). Transactions over one store run one after another (Indexed Database API 3.0,
// §2.7.2).
//
// Guarantee: linearizable; nothing is lost. Weakness: a transaction each, about 2,000 a second over
// all tabs.
#pragma once

#include <string>

#include "tabacus/counter.hpp"
#include "watchers.hpp"

namespace tabacus {

class TransactionalCounter final : public Counter {
  public:
    TransactionalCounter(World& world, std::string_view name, Durability durability,
                         NoticeHandler on_notice);

    Task<std::int64_t> add(std::int64_t n) override;
    Task<std::int64_t> read() override;
    Task<void> flush() override;
    [[nodiscard]] std::int64_t value() const override { return last_seen_; }
    /// Other tabs' increments are noticed when this tab reads or adds.
    Subscription on_change(std::function<void()> callback) override;
    [[nodiscard]] Guarantee guarantee() const override;

  private:
    void set_aside(Transaction& transaction, const Row& row);
    void see(std::int64_t value);

    World& world_;
    std::string key_;
    Durability durability_;
    NoticeHandler on_notice_;
    bool warned_ = false;
    std::int64_t last_seen_ = 0;
    Watchers watchers_;
};

}  // namespace tabacus
