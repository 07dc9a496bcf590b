// The rows of once(). In Store::locks, beside the row of its lock: the note of the last run that
// ended (Once::parse()), the time until which its value is kept, and a record of the last forget().
// In Store::data: the value.
#pragma once

#include <string>
#include <string_view>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"

namespace tabacus {

/// No application has this store: js/lock/lock-options.js refuses names of stores that begin so.
constexpr std::string_view once_store = "tabacus/once";
constexpr std::string_view once_lock_prefix = "once/";

/// Returns the key of the value that a run of once(key) has stored, in Store::data.
inline std::string once_value_key(std::string_view key) {
    return concat({escaped(once_store), "/", key});
}
/// Returns the key of the time until which the value is kept, in Store::locks. There is no such row
/// if that is LockSweeper::kept_ms after the run. `lock_key`: the escaped name of the lock.
inline std::string once_until_key(std::string_view lock_key) {
    return concat({lock_key, "/until"});
}

/// Returns the key of the record of the last forget(), in Store::locks. While the forget() is under
/// way, the record has `once_forgetting` and the time since the Unix epoch at which it began. After
/// it, the record has the token of its lock, which is above those of all runs that it ended.
inline std::string once_forgotten_key(std::string_view lock_key) {
    return concat({lock_key, "/forgotten"});
}
constexpr std::string_view once_forgetting = "0";

}  // namespace tabacus
