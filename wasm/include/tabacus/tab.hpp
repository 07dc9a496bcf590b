// Tab: everything that one namespace offers in one context (a page, a worker).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tabacus/counter.hpp"
#include "tabacus/world.hpp"

namespace tabacus {

/// The longest name of a namespace or counter, in UTF-16 code units. Room for any identifier a
/// person would write; an escaped key stays far below what storage and lock managers accept.
constexpr int name_units_max = 128;

enum class Strategy : std::uint8_t { replicated, naive, locked, transactional };

/// Nothing for a name that is no strategy.
std::optional<Strategy> strategy_named(std::string_view name);

struct CounterOptions {
    Strategy strategy = Strategy::replicated;
    Durability durability = Durability::relaxed;
};

/// What this context has. Each is one of the words that the public API shows.
struct Capabilities {
    std::string_view store;       // indexeddb, localstorage, memory
    std::string_view exclusion;   // web-locks, none
    std::string_view durability;  // the best there is: strict, relaxed, memory
    bool mirror = false;          // totals are mirrored in localStorage against a lost database
    bool channel = false;         // news travels by BroadcastChannel
};

class Replica;
class ReplicatedCounter;

class Tab {
  public:
    /// `world` must outlive the tab. Names are validated by the caller (js/), being strings there.
    Tab(World& world, std::string name_space, NoticeHandler on_notice);
    ~Tab();
    Tab(const Tab&) = delete;
    Tab& operator=(const Tab&) = delete;
    Tab(Tab&&) = delete;
    Tab& operator=(Tab&&) = delete;

    /// Finds out what the platform has. Call it once, before counter().
    Task<void> open();
    /// Commits what is pending, then lets locks, channel and database go. Waits for the commit.
    Task<void> close();

    [[nodiscard]] Capabilities capabilities() const;

    /// What the strategy needs and the platform lacks, as a sentence; nothing when it is all there.
    [[nodiscard]] const char* missing(Strategy strategy) const;

    /// The counter of that name and strategy: the same object for the same arguments. Throws
    /// unavailable, or aborts without exceptions, when something is missing().
    Counter& counter(std::string_view name, CounterOptions options);
    /// The same for the default strategy, whose increment() is synchronous.
    ReplicatedCounter& replicated(std::string_view name, Durability durability);

    /// True when no work of the tab is under way.
    [[nodiscard]] bool idle();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
