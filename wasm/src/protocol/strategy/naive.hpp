// Naive: reads, adds and writes in localStorage, as the Web Storage article begins ("simple").
//
// Guarantee: none. Two tabs that read the same value write the same sum, and a renderer process
// may read its own stale copy: three Chromium tabs lost 65 to 84 % of their increments
// (docs/decisions/0001). It is in the catalogue to show the loss.
#pragma once

#include <optional>
#include <string>

#include "stored_counter.hpp"

namespace tabacus {

class NaiveCounter : public StoredCounter {
  public:
    explicit NaiveCounter(CounterLocation location) : NaiveCounter(std::move(location), "naive") {}

    Task<std::int64_t> read() override;
    [[nodiscard]] Guarantee guarantee() const override;

  protected:
    Task<std::int64_t> store(std::int64_t n) override;
    /// For a strategy that derives from this one and adds mutual exclusion: `strategy` names its
    /// key.
    NaiveCounter(CounterLocation location, std::string_view strategy);
    [[nodiscard]] const std::string& key() const { return key_; }

  private:
    Task<std::int64_t> parse_or_quarantine(std::optional<std::string> text);

    std::string key_;
    Subscription changes_;
};

}  // namespace tabacus
