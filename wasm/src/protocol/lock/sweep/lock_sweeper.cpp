#include "lock_sweeper.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "once_rows.hpp"
#include "protocol/common/record.hpp"
#include "protocol/lock/lock_record.hpp"
#include "tabacus/lock/once.hpp"

namespace tabacus {
namespace {

/// The key of the row with the time of the last sweep. No lock has it, since '/' is escaped in names.
constexpr std::string_view swept_key = "/swept";
/// How many rows a transaction reads.
constexpr std::uint32_t read_max = 512;

bool within_kept(double at_ms, double now_ms) {
    return std::abs(now_ms - at_ms) < LockSweeper::kept_ms;
}

/// Whether this is the row of a lock that may be out of use. A lock with a lease is left alone.
bool may_be_unused(const Row& stored, double now_ms) {
    if (stored.foreign || stored.key.find('/') != std::string::npos) return false;
    const auto row = parse_lock_row(stored.value);
    return row && row->lease_ms == 0 && !within_kept(static_cast<double>(row->since_ms), now_ms);
}

}  // namespace

Task<void> LockSweeper::sweep_if_due(Transaction& transaction) {
    const auto monotonic_ms = world_.clock().monotonic_ms();
    if (monotonic_ms < look_again_ms_ || !world_.locks().available()) co_return;
    look_again_ms_ = monotonic_ms + kept_ms;
    const auto now_ms = world_.clock().now_ms();
    const auto last = co_await transaction.get(Store::locks, swept_key);
    const auto swept_ms = last ? parse_value(last->value) : std::nullopt;
    if (swept_ms && within_kept(static_cast<double>(*swept_ms), now_ms)) co_return;
    transaction.put(Store::locks, swept_key, format_decimal(static_cast<std::int64_t>(now_ms)));
    if (last) scope_.spawn(sweep());
}

/// Sweeps all rows. What fails is left to the next sweep.
Task<void> LockSweeper::sweep() {
    std::string from;
    do {
        auto swept = co_await attempt(sweep_some(std::move(from)));
        from = swept ? std::move(swept.value()) : std::string();
    } while (!from.empty());
}

/// Sweeps read_max rows from that key on. Returns the key to go on from, or nothing.
Task<std::string> LockSweeper::sweep_some(std::string from) {
    std::vector<Row> rows;
    {
        constexpr Stores scope{Store::locks};
        const auto reader = co_await world_.database().begin(scope, Access::read,
                                                             Durability::relaxed, &transactions_);
        rows = co_await reader->list(Store::locks, "", read_max, from);
    }
    auto next = rows.size() < read_max ? std::string() : rows.back().key;
    const auto now_ms = world_.clock().now_ms();
    std::erase_if(rows, [&](const Row& row) { return !may_be_unused(row, now_ms); });
    if (!rows.empty()) co_await drop_used(rows);
    if (rows.empty()) co_return next;
    constexpr Stores scope{Store::locks, Store::data};
    const auto transaction =
        co_await world_.database().begin(scope, Access::write, Durability::relaxed, &transactions_);
    for (const auto& row : rows) {
        const auto still = co_await transaction->get(Store::locks, row.key);
        if (still && still->value == row.value) co_await remove(*transaction, row);
    }
    co_await transaction->commit();
    co_return next;
}

/// Drops the rows of locks that a tab holds or waits for.
Task<void> LockSweeper::drop_used(std::vector<Row>& rows) {
    const auto snapshot = co_await world_.locks().query({});
    std::set<std::string> used;
    for (const auto& lock : snapshot.held) used.insert(lock.name);
    for (const auto& lock : snapshot.pending) used.insert(lock.name);
    std::erase_if(rows, [&](const Row& row) {
        return used.contains(names_.lock(row.key)) || used.contains(names_.entry_lock(row.key));
    });
}

/// Removes the row of a lock, and the rows that users of the lock keep beside it, unless a caller of
/// once() has asked for a longer time.
Task<void> LockSweeper::remove(Transaction& transaction, const Row& row) {
    const auto name = unescaped(row.key);
    if (name && name->starts_with(once_lock_prefix)) {
        const auto until_key = once_until_key(row.key);
        const auto until = co_await transaction.get(Store::locks, until_key);
        const auto until_ms = until ? parse_value(until->value) : std::nullopt;
        const auto now_ms = world_.clock().now_ms();
        if (until_ms && static_cast<double>(*until_ms) > now_ms) co_return;
        // The run may have ended long after its lock was granted.
        const auto note = co_await transaction.get(Store::locks, note_key(row.key));
        const auto finished = note ? Once::parse(note->value) : std::nullopt;
        if (finished && within_kept(finished->finished_ms, now_ms)) co_return;
        transaction.remove(Store::data, once_value_key(name->substr(once_lock_prefix.size())));
        transaction.remove(Store::locks, until_key);
        transaction.remove(Store::locks, once_forgotten_key(row.key));
    }
    transaction.remove(Store::locks, row.key);
    transaction.remove(Store::locks, note_key(row.key));
    transaction.remove(Store::locks, proof_key(row.key));
    transaction.remove(Store::locks, eviction_key(row.key));
}

}  // namespace tabacus
