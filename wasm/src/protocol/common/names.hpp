// The names under which a namespace keeps its things in storage, locks and channels.
//
// One rule: parts are joined by '/', and a part that a user chose is escaped, so that no two
// different names can meet in one key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "concat.hpp"

namespace tabacus {

/// `part` with '%', '/', ';' and control characters as %XX. Injective.
std::string escaped(std::string_view part);
/// The inverse; nothing for what escaped() never writes.
std::optional<std::string> unescaped(std::string_view part);

/// The key of a counter's row, "counter/generation/slot". A copy for each caller would be ten times
/// the size of the calls.
[[gnu::noinline]] inline std::string row_key(const std::string& counter, const std::string& row) {
    return concat({counter, "/", row});
}

class Names {
  public:
    explicit Names(std::string_view name_space)
        : root_(concat({"tabacus/", escaped(name_space), "/"})) {}

    /// What every key of localStorage, lock and channel of the namespace begins with.
    [[nodiscard]] const std::string& root() const { return root_; }

    [[nodiscard]] std::string channel() const { return concat({root_, "news"}); }
    [[nodiscard]] std::string catalogue_channel() const { return concat({root_, "added"}); }
    /// Held by a replica while it lives: a replica that can take it may adopt the slot.
    [[nodiscard]] std::string slot_lock(std::string_view slot) const {
        return concat({root_, "slot/", slot});
    }
    /// Held by the holder of the lock `key`, an escaped name (web_lock.hpp).
    [[nodiscard]] std::string lock(std::string_view key) const {
        return root_ + "lock/" + std::string(key);
    }
    /// localStorage: the largest token of all locks, as last seen.
    [[nodiscard]] std::string lock_tokens() const { return concat({root_, "lock-tokens"}); }
    [[nodiscard]] std::string lock_departures() const { return concat({root_, "gone/"}); }
    /// localStorage: that `id`, of a lease on the lock, is gone with its page, and when
    /// (lease.hpp).
    [[nodiscard]] std::string lock_departure(std::string_view key, std::string_view id) const {
        return concat({lock_departures(), key, "/", id});
    }
    /// Held while its holder waits for lock(key): the queue.
    [[nodiscard]] std::string entry_lock(std::string_view key) const {
        return root_ + "gate/" + std::string(key);
    }
    /// localStorage: the clean exit of a worker from its slot, as its turns (slot_server.cpp).
    [[nodiscard]] std::string queue_exit(std::string_view key, std::string_view slot) const {
        return concat({root_, "left/", key, "/", slot});
    }
    [[nodiscard]] std::string queues_channel() const { return concat({root_, "queues"}); }
    [[nodiscard]] std::string locks_channel() const { return root_ + "locks"; }
    [[nodiscard]] std::string limits_channel() const { return root_ + "limits"; }
    /// Held by a tab that may hold rights of budgets.
    [[nodiscard]] std::string holder(std::string_view tab) const {
        return root_ + "holder/" + std::string(tab);
    }
    /// Held, shared, by every tab that has watched a rate limit's time pass.
    [[nodiscard]] std::string witness(std::string_view key) const {
        return root_ + "witness/" + std::string(key);
    }
    /// Held by the tab that makes a row of Store::limits, where there seems to be none.
    [[nodiscard]] std::string limit_birth(std::string_view key) const {
        return concat({root_, "limit-birth/", key});
    }
    /// Held, shared, by every tab that has seen that there is such a row.
    [[nodiscard]] std::string limit_seen(std::string_view key) const {
        return concat({root_, "limit-seen/", key});
    }
    /// localStorage: that there is such a row of Store::limits, and the last number of a sequence.
    [[nodiscard]] std::string limit_mark(std::string_view key) const {
        return root_ + "limit/" + std::string(key);
    }
    /// localStorage: the generation of the database as last seen.
    [[nodiscard]] std::string generation() const { return concat({root_, "generation"}); }
    /// localStorage: the generation as all modules but the default counter know it
    /// (store_watch.hpp).
    [[nodiscard]] std::string database_generation() const {
        return concat({root_, "database-generation"});
    }
    /// localStorage: a row of the database, as its backup; without IndexedDB the row itself.
    [[nodiscard]] std::string stored_row(std::string_view row_key) const {
        return concat({root_, "mirror/", row_key});
    }
    /// localStorage and locks: what the simple strategies keep per counter.
    [[nodiscard]] std::string counter(std::string_view strategy, std::string_view name) const {
        return concat({root_, strategy, "/", escaped(name)});
    }

  private:
    std::string root_;
};

}  // namespace tabacus
