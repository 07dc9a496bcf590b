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
    /// `world` must outlive this.
    Limits(World& world, std::string_view name_space, NoticeHandler on_notice);
    ~Limits();
    Limits(const Limits&) = delete;
    Limits& operator=(const Limits&) = delete;
    Limits(Limits&&) = delete;
    Limits& operator=(Limits&&) = delete;

    /// Whether the limits are stored. Without IndexedDB, each page has limits of its own, which are
    /// lost with the page.
    [[nodiscard]] bool durable() const;

    // These functions return the same object for the same name (and, of a sequence, for the same
    // options). It lives as long as this object. A later call changes the numbers of a budget or a
    // rate limit for all users in this tab.

    /// `options.block` is from 1.
    Sequence& sequence(std::string_view name, SequenceOptions options);
    /// `limit` is from 0 to value_max.
    Budget& budget(std::string_view name, std::int64_t limit);
    /// `limit` and `interval_ms` are from 1.
    RateLimit& rate_limit(std::string_view name, std::int64_t limit, std::int64_t interval_ms);

    /// Drops the numbers and the rights that are reserved, because the database has vanished, and
    /// records in the new one that they were given.
    void store_vanished();
    /// Makes all calls fail with unavailable, because other tabs cannot be excluded any more.
    /// Requires a call of store_vanished() before, unless nothing was given yet.
    void cut_off();
    /// Puts back the rights that are held unspent, and releases all locks. Calls that wait fail
    /// with closed.
    Task<void> close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
