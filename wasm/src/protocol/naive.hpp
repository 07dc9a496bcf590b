// Naive: read, add one, write in localStorage, as the Web Storage article begins ("simple").
//
// Guarantee: none. Two tabs that read the same value write the same sum, and a renderer process
// reads its own stale copy besides: three Chromium tabs lost 65 to 84 % (DESIGN §1). It is here to
// be seen losing.
#pragma once

#include <string>

#include "names.hpp"
#include "tabacus/counter.hpp"
#include "watchers.hpp"

namespace tabacus {

class NaiveCounter : public Counter {
  public:
    /// `key` is the counter's key in localStorage.
    NaiveCounter(World& world, std::string key, NoticeHandler on_notice);

    Task<std::int64_t> add(std::int64_t n) override;
    Task<std::int64_t> read() override;
    Task<void> flush() override;
    [[nodiscard]] std::int64_t value() const override { return last_seen_; }
    Subscription on_change(std::function<void()> callback) override;
    [[nodiscard]] Guarantee guarantee() const override;

  private:
    Task<std::int64_t> parse_or_set_aside(std::optional<std::string> text);
    void see(std::int64_t value);

    World& world_;
    std::string key_;
    NoticeHandler on_notice_;
    std::int64_t last_seen_ = 0;
    Watchers watchers_;
    Subscription changes_;
};

}  // namespace tabacus
