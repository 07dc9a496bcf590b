// Catalogue: the ways to count over tabs that the field has written down, each as its source has
// it. They are here to be compared, explored and, where their guarantee will do, used. The default
// counter, `replicated`, is Tab's (tab.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

enum class Strategy : std::uint8_t {
    naive,
    log,
    lamport,
    eventual,
    transactional,
    locked,
    optimistic,
    deltas,
    batched,
};

/// All of them, in the order of the enumeration.
std::span<const Strategy> all_strategies();
std::string_view strategy_name(Strategy strategy);
/// Nothing for a name that is no strategy of the catalogue.
std::optional<Strategy> strategy_named(std::string_view name);

/// Times in milliseconds, each of the strategies named beside it; nothing for their default, which
/// stands in the strategy's header. Others ignore it. The caller checks ranges
/// (js/tab/tab-options.js).
struct StrategyTimes {
    std::optional<double> delay;        // lamport
    std::optional<double> back_off;     // lamport, optimistic
    std::optional<double> force_after;  // lamport
    std::optional<double> fold_after;   // log
    std::optional<double> threshold;    // deltas
    std::optional<double> interval;     // batched
    friend bool operator==(const StrategyTimes&, const StrategyTimes&) = default;
};

struct CounterOptions {
    Strategy strategy = Strategy::transactional;
    Durability durability = Durability::relaxed;  // of the strategies that keep rows in IndexedDB
    StrategyTimes times = {};
    friend bool operator==(const CounterOptions&, const CounterOptions&) = default;
};

class StoreWatch;

class Catalogue {
  public:
    /// `world` and `watch` must outlive the catalogue; the first counter in the database starts the
    /// watch. Names are validated by the caller (js/).
    Catalogue(World& world, std::string_view name_space, StoreWatch& watch,
              NoticeHandler on_notice);
    ~Catalogue();
    Catalogue(const Catalogue&) = delete;
    Catalogue& operator=(const Catalogue&) = delete;
    Catalogue(Catalogue&&) = delete;
    Catalogue& operator=(Catalogue&&) = delete;

    /// What the strategy needs and the platform lacks; empty when it is all there.
    [[nodiscard]] std::string_view missing(Strategy strategy) const;

    /// The counter of that name: the same object for the same arguments. Throws unavailable, or
    /// aborts without exceptions, when something is missing().
    Counter& counter(std::string_view name, const CounterOptions& options);

    /// Flushes every counter, then lets locks go; no counter may be used after.
    /// Fails as flush() does, having let go.
    Task<void> close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
