// Departures: the notes of tabs that left a lease with their page, so that no other tab waits until
// the lease runs out (lease.hpp).
//
// A departure names a grant, a reader or a waiter. A tab announces it on the channel, and a page
// that is being left stores it in localStorage as well, for tabs that are opened later.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/common/names.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class Departures {
  public:
    Departures(World& world, const Names& names) : world_(world), names_(names) {}

    /// Remembers the departures that a message or a row names. Ignores texts that are not
    /// identifiers.
    void note(const std::vector<std::string>& ids);
    [[nodiscard]] bool contains(const std::string& id) const { return ids_.contains(id); }

    /// Reads the departures that pages stored for the lock `key`, and puts their rows' keys into
    /// `rows`. Returns true if one of them is new.
    Task<bool> read(std::string key, std::vector<std::string>& rows);
    /// Stores a departure of the lock `key`.
    Task<void> store(std::string key, std::string id);
    /// Removes the departures that are stored under these keys.
    Task<void> remove(std::vector<std::string> rows);
    /// Removes all departures, of any lock, that are older than the longest lease, because no tab
    /// needs them any more. Does so at the first call only.
    Task<void> sweep();

  private:
    World& world_;
    const Names& names_;
    std::set<std::string, std::less<>> ids_;
    bool swept_ = false;
};

}  // namespace tabacus
