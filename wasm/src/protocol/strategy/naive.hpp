// Naive: read, add one, write in localStorage, as the Web Storage article begins ("simple").
//
// Guarantee: none. Two tabs that read the same value write the same sum, and a renderer process
// reads its own stale copy besides: three Chromium tabs lost 65 to 84 %
// (docs/decisions/0001). It is here to be seen losing.
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
    /// Under the key of another strategy, which adds exclusion.
    NaiveCounter(CounterLocation location, std::string_view strategy);
    [[nodiscard]] const std::string& key() const { return key_; }

  private:
    Task<std::int64_t> parse_or_quarantine(std::optional<std::string> text);

    std::string key_;
    Subscription changes_;
};

}  // namespace tabacus
