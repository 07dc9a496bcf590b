// Tab: what one namespace offers in one context (a page, a worker). The Catalogue (catalogue.hpp),
// which a page need not load, has the other strategies.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "tabacus/common/counter.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

/// The longest name of a namespace or counter, in UTF-16 code units. Long enough for any identifier
/// that a person would write; an escaped key stays far below what storage and lock managers accept.
constexpr int name_units_max = 128;

/// What this context has. Each value is spelt as in the public API.
struct Capabilities {
    std::string_view store;       // indexeddb, localstorage, memory
    std::string_view exclusion;   // web-locks, lease, none
    std::string_view durability;  // the best there is: strict, relaxed, memory
    bool channel = false;         // there is a BroadcastChannel for news
};

class Replica;
class ReplicatedCounter;

class Tab {
  public:
    /// Requires that `world` outlives the tab, and that the caller (js/) has validated the name.
    Tab(World& world, std::string name_space, NoticeHandler on_notice);
    ~Tab();
    Tab(const Tab&) = delete;
    Tab& operator=(const Tab&) = delete;
    Tab(Tab&&) = delete;
    Tab& operator=(Tab&&) = delete;

    /// Finds out what the platform has. Requires that it is called once, before replicated().
    Task<void> open();
    /// Commits what is pending, waits for the commit, and then releases locks and channel.
    Task<void> close();

    /// Returns what the platform gives this tab. Requires that open() has ended.
    [[nodiscard]] Capabilities capabilities() const;

    /// Returns the counter of that name: the same object for the same arguments.
    ReplicatedCounter& replicated(std::string_view name, Durability durability);

    /// Returns true while no work of the tab is under way.
    [[nodiscard]] bool idle();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace tabacus
