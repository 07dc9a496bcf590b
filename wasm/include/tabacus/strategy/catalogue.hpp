// Catalogue: the published strategies to count over tabs, each as its source describes it. They can
// be compared, explored, and used where their guarantee is enough. The default counter,
// `replicated`, is not in the catalogue but in Tab (tab.hpp).
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

/// The strategies. The header of each one in wasm/src/protocol/strategy states its source, its
/// guarantee and its weakness.
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

/// Returns all strategies, in the order of the enumeration.
std::span<const Strategy> all_strategies();
/// Returns the strategy's name in the public API.
std::string_view strategy_name(Strategy strategy);
/// Returns the strategy of that name; nothing if the catalogue has none.
std::optional<Strategy> strategy_named(std::string_view name);

/// Times in milliseconds. A comment names the strategies that use a time; the others ignore it. If
/// a time is nothing, the default in the strategy's header holds. The caller checks the ranges
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
    Durability durability = Durability::relaxed;  // for the strategies over IndexedDB
    StrategyTimes times = {};
    friend bool operator==(const CounterOptions&, const CounterOptions&) = default;
};

class StoreLossDetector;

/// The catalogue's counters of one namespace in one tab.
class Catalogue {
  public:
    /// `world` and `loss_detector` must outlive the catalogue. The first callback for changes of a
    /// counter in the database starts the loss detector. The caller has validated `name_space`
    /// (js/).
    Catalogue(World& world, std::string_view name_space, StoreLossDetector& loss_detector,
              NoticeHandler on_notice);
    ~Catalogue();
    Catalogue(const Catalogue&) = delete;
    Catalogue& operator=(const Catalogue&) = delete;
    Catalogue(Catalogue&&) = delete;
    Catalogue& operator=(Catalogue&&) = delete;

    /// Returns the name of what the strategy needs and the platform lacks; empty if nothing is
    /// missing.
    [[nodiscard]] std::string_view missing(Strategy strategy) const;

    /// Returns the counter of that name, the same object for the same arguments. It lives as long
    /// as the catalogue. Requires that nothing is missing(): otherwise throws unavailable, or
    /// aborts the program where exceptions are off.
    Counter& counter(std::string_view name, const CounterOptions& options);

    /// Flushes every counter, then releases their locks. No counter may be used afterwards. Fails
    /// as the last flush() that failed; the locks are released in any case.
    Task<void> close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
