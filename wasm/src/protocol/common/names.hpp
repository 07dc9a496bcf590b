// Names: the names that a namespace uses for its keys of localStorage, its locks and its channels.
//
// The parts of a name are joined by '/', and a part that a user chose is escaped, so that two
// different names never make one key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "concat.hpp"
#include "record.hpp"

namespace tabacus {

/// Returns `part` with '%', '/', ';' and control characters written as %XX. Injective.
std::string escaped(std::string_view part);
/// Returns the text that escaped() turns into `part`; nothing if there is none.
std::optional<std::string> unescaped(std::string_view part);
/// Does the same. It is inlined, for a piece of the program that is loaded without the one of
/// unescaped().
[[gnu::always_inline]] inline std::optional<std::string> unescape(std::string_view part) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string result;
    for (std::size_t i = 0; i < part.size(); ++i) {
        if (part[i] != '%') {
            result += part[i];
            continue;
        }
        const auto high = i + 2 < part.size() ? hex.find(part[i + 1]) : std::string_view::npos;
        const auto low = i + 2 < part.size() ? hex.find(part[i + 2]) : std::string_view::npos;
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        result += static_cast<char>(high * 16 + low);
        i += 2;
    }
    if (escaped(result) != part) return std::nullopt;
    return result;
}

/// Returns the key of a counter's row, "counter/generation/slot". `counter` is the counter's
/// escaped name, `row` is "generation/slot". Never inlined, because a copy of the code takes ten
/// times the code of a call.
[[gnu::noinline]] inline std::string row_key(const std::string& counter, const std::string& row) {
    return concat({counter, "/", row});
}

class Names {
  public:
    explicit Names(std::string_view name_space)
        : root_(concat({"tabacus/", escaped(name_space), "/"})) {}

    /// The text with which every name of this namespace begins.
    [[nodiscard]] const std::string& root() const { return root_; }

    [[nodiscard]] std::string channel() const { return concat({root_, "news"}); }
    [[nodiscard]] std::string catalogue_channel() const { return concat({root_, "added"}); }
    /// The lock that a replica holds while it lives. A replica that acquires it may adopt the slot.
    [[nodiscard]] std::string slot_lock(std::string_view slot) const {
        return concat({root_, "slot/", slot});
    }
    /// The Web Lock that the holder of the lock `key` holds. `key` is an escaped name
    /// (web_lock.hpp).
    [[nodiscard]] std::string lock(std::string_view key) const {
        return concat({root_, "lock/", key});
    }
    /// A key of localStorage: the largest token of all locks that a tab has seen.
    [[nodiscard]] std::string lock_tokens() const { return concat({root_, "lock-tokens"}); }
    /// The text with which the keys of departures begin.
    [[nodiscard]] std::string lock_departures() const { return concat({root_, "gone/"}); }
    /// A key of localStorage: the departure of `id`, which held a lease on the lock or waited for
    /// one, and the time at which its page was left (lease.hpp).
    [[nodiscard]] std::string lock_departure(std::string_view key, std::string_view id) const {
        return concat({lock_departures(), key, "/", id});
    }
    /// The liveness lock of a tab (liveness_lock.hpp).
    [[nodiscard]] std::string liveness(std::string_view tab) const {
        return concat({root_, "tab/", tab});
    }
    /// The entry lock of the lock `key`. A tab holds it while it waits for lock(key).
    [[nodiscard]] std::string entry_lock(std::string_view key) const {
        return concat({root_, "gate/", key});
    }
    /// The lock of the one visible tab that asks the holder of the lock `key` whether it lives
    /// (holder_check.hpp).
    [[nodiscard]] std::string checker_lock(std::string_view key) const {
        return concat({root_, "watch/", key});
    }
    /// A key of localStorage: the record of a worker that has left its slot cleanly. It names the
    /// last turns over the slot (slot_server.cpp).
    [[nodiscard]] std::string queue_exit(std::string_view key, std::string_view slot) const {
        return concat({root_, "left/", key, "/", slot});
    }
    [[nodiscard]] std::string queues_channel() const { return concat({root_, "queues"}); }
    [[nodiscard]] std::string locks_channel() const { return concat({root_, "locks"}); }
    /// The channel of the tabs that are near one of the locks of a bucket (near_channels.hpp).
    [[nodiscard]] std::string near_channel(unsigned bucket) const {
        return concat({root_, "near/", format_decimal(bucket)});
    }
    /// The channel of the outcomes that once() keeps in memory (once_values.hpp).
    [[nodiscard]] std::string once_channel() const { return concat({root_, "once"}); }
    /// The lock that each tab that has an outcome of the escaped key holds, shared.
    [[nodiscard]] std::string once_value(std::string_view key) const {
        return concat({root_, "once/", key});
    }
    [[nodiscard]] std::string limits_channel() const { return concat({root_, "limits"}); }
    /// The lock that a tab holds while it may hold rights of budgets.
    [[nodiscard]] std::string holder(std::string_view tab) const {
        return concat({root_, "holder/", tab});
    }
    /// The lock that every witness of a rate limit's time holds, shared (rate_limit.hpp).
    [[nodiscard]] std::string witness(std::string_view key) const {
        return concat({root_, "witness/", key});
    }
    /// The lock that a tab holds while it makes a row of Store::limits that seems to be missing.
    [[nodiscard]] std::string limit_birth(std::string_view key) const {
        return concat({root_, "limit-birth/", key});
    }
    /// The lock that a tab holds, shared, once it has seen the row of Store::limits.
    [[nodiscard]] std::string limit_seen(std::string_view key) const {
        return concat({root_, "limit-seen/", key});
    }
    /// A key of localStorage: the mark that the row of Store::limits exists. The mark of a sequence
    /// holds the sequence's last number.
    [[nodiscard]] std::string limit_mark(std::string_view key) const {
        return concat({root_, "limit/", key});
    }
    /// A key of localStorage: the last generation of the database that the default counter has
    /// seen.
    [[nodiscard]] std::string generation() const { return concat({root_, "generation"}); }
    /// A key of localStorage: the last generation of the database that any other module has seen
    /// (store_loss_detector.hpp).
    [[nodiscard]] std::string database_generation() const {
        return concat({root_, "database-generation"});
    }
    /// The channel on which a tab announces that the database has vanished
    /// (store_loss_detector.hpp).
    [[nodiscard]] std::string store_channel() const { return concat({root_, "store"}); }
    /// A key of localStorage: the backup of a row of the database; without IndexedDB the row
    /// itself.
    [[nodiscard]] std::string stored_row(std::string_view row_key) const {
        return concat({root_, "mirror/", row_key});
    }
    /// The beginning of the keys and of the locks that a strategy of the catalogue uses for the
    /// counter `name`.
    [[nodiscard]] std::string counter(std::string_view strategy, std::string_view name) const {
        return concat({root_, strategy, "/", escaped(name)});
    }

  private:
    std::string root_;
};

}  // namespace tabacus
