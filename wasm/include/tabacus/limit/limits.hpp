// Limits: the sequences, budgets and rate limits of one namespace in one tab.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"
#include "tabacus/limit/budget.hpp"
#include "tabacus/limit/rate_limit.hpp"
#include "tabacus/limit/sequence.hpp"

namespace tabacus {

class Limits {
  public:
    /// `world` must outlive it.
    Limits(World& world, std::string_view name_space, NoticeHandler on_notice);
    ~Limits();
    Limits(const Limits&) = delete;
    Limits& operator=(const Limits&) = delete;
    Limits(Limits&&) = delete;
    Limits& operator=(Limits&&) = delete;

    /// Returns false if there is no IndexedDB, so that everything is this page's own.
    [[nodiscard]] bool durable() const;

    // Each returns the same object for the same name, as long as this lives. The numbers that a
    // budget or a rate limit was last asked for with hold in this tab.
    Sequence& sequence(std::string_view name, SequenceOptions options);
    Budget& budget(std::string_view name, std::int64_t limit);
    RateLimit& rate_limit(std::string_view name, std::int64_t limit, std::int64_t interval_ms);

    /// Puts back what is held unspent, and releases everything. Callers that wait fail with closed.
    Task<void> close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
