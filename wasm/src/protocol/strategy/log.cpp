#include "log.hpp"

#include <algorithm>
#include <vector>

#include "checked_add.hpp"
#include "protocol/common/record.hpp"

namespace tabacus {

LogCounter::LogCounter(CounterLocation location, LogTimes times)
    : StoredCounter(std::move(location)),
      times_(times),
      prefix_(this->location().names.counter("log", this->location().name) + "/"),
      locks_(prefix_),
      id_(identifier_of(world().random().bits())) {
    changes_ = world().storage().on_change(
        this->location().names.root(), [this](const StorageChange& change) { on_storage(change); });
}

Task<std::int64_t> LogCounter::store(std::int64_t n) {
    if (!counted_) co_await recount();
    co_await checked_add(log_.sum(), n);
    if (n == 0) co_return value();
    hold_liveness();
    const LogKey key{LogKey::Kind::entry, id_, ++last_number_};
    const LogRecord record{n, static_cast<std::int64_t>(world().clock().now_ms())};
    const auto kept = co_await attempt(
        world().storage().set(prefix_ + format_log_key(key), format_log_record(record)));
    if (!kept) {
        // If a later entry has the next number already, this number stays unused. Then the entries
        // of this tab are folded only up to it, and nothing is lost.
        if (last_number_ == key.number) --last_number_;
        co_await fail(kept.error());
    }
    log_.put(key, record);
    see(log_.sum());
    if (!std::exchange(folding_, true)) scope_.spawn(fold_later());
    co_return value();
}

Task<std::int64_t> LogCounter::read() {
    co_await recount();
    co_return value();
}

Task<void> LogCounter::recount() {
    const auto known = last_number_;
    auto seen = co_await scan();
    seen.take_newer(log_, id_, known);
    log_ = std::move(seen);
    counted_ = true;
    see(log_.sum());
}

/// Returns all records as they were at one moment. If a listed record is removed before it is read,
/// another tab is folding, and the scan begins again.
Task<EntryLog> LogCounter::scan() {
    for (;;) {
        EntryLog log;
        bool torn = false;
        for (const auto& key : co_await world().storage().keys(prefix_)) {
            const auto text = co_await world().storage().get(key);
            torn = torn || !text;
            if (torn) break;
            const auto parsed = parse_log_key(std::string_view(key).substr(prefix_.size()));
            const auto record = parse_log_record(*text);
            if (parsed && record) {
                log.put(*parsed, *record);
            } else {
                co_await quarantine_entry(key, *text);
            }
        }
        if (!torn) co_return log;
    }
}

Task<void> LogCounter::quarantine_entry(std::string key, std::string text) {
    co_await warn_and_fail_if_newer(key, text);
    const auto prefix = location().names.counter("log-aside", location().name);
    auto to = prefix + "/" + key.substr(prefix_.size());
    // If the entry cannot be moved, it stays where it is, and counts nothing there either.
    (void)co_await attempt(
        quarantine(std::move(key), std::move(to), std::move(text),
                   "An entry that cannot be read is set aside; all others count."));
}

void LogCounter::on_storage(const StorageChange& change) {
    if (!change.key) {
        log_ = {};
    } else {
        if (!change.key->starts_with(prefix_)) return;
        const auto key = parse_log_key(std::string_view(*change.key).substr(prefix_.size()));
        if (!key) return;
        const auto record = change.new_value ? parse_log_record(*change.new_value) : std::nullopt;
        if (record) log_.put(*key, *record);
        if (!change.new_value) log_.forget_covered(*key);
    }
    if (counted_) see(log_.sum());
}

// --- Liveness -----------------------------------------------------------------------------------

/// Releases the liveness lock when the page is left, because a page that holds a lock is not kept
/// in the back/forward cache.
void LogCounter::on_lifecycle(LifecycleEvent event) {
    if (event == LifecycleEvent::page_hide) {
        suspended_ = true;
        liveness_.reset();
        if (const auto signal = std::exchange(requested_, nullptr)) signal->abort();
    }
    if (event == LifecycleEvent::page_show) {
        suspended_ = false;
        if (last_number_ > 0) hold_liveness();
    }
}

void LogCounter::hold_liveness() {
    if (liveness_ || requested_ || suspended_ || !world().locks().available()) return;
    requested_ = std::make_unique<AbortSignal>();
    scope_.spawn(take_liveness(*requested_));
}

Task<void> LogCounter::take_liveness(AbortSignal signal) {
    auto held = co_await attempt(
        world().locks().request({.name = locks_ + "tab/" + id_, .signal = signal}));
    if (signal.aborted()) co_return;
    // If the lock is refused, another tab may fold the entries of this one, which does no harm.
    if (held) liveness_ = std::move(held.value());
    requested_.reset();
}

// --- Folding ------------------------------------------------------------------------------------

Task<void> LogCounter::fold_later() {
    co_await world().clock().sleep(times_.fold_after_ms);
    folding_ = false;
    if (suspended_) co_return;
    // If the store is full or the lock manager refuses, a later call folds.
    static_cast<void>(co_await attempt(fold()));
}

/// Folds if this tab is elected, that is, if it gets the lock. Other tabs would only repeat the
/// work. A tab that is cut off does not see which tabs live.
Task<void> LogCounter::fold() {
    if (cut_off()) co_return;
    const bool has_locks = world().locks().available();
    std::unique_ptr<HeldLock> elected;
    std::vector<std::string> living;
    if (has_locks) {
        elected = co_await world().locks().request({.name = locks_ + "fold", .if_available = true});
        if (!elected) co_return;
        for (auto& held : (co_await world().locks().query({})).held) {
            living.push_back(std::move(held.name));
        }
    }
    const auto lives = [&](const std::string& id) {
        return std::find(living.begin(), living.end(), locks_ + "tab/" + id) != living.end();
    };
    const auto log = co_await scan();
    for (const auto& [id, tab] : log.tabs()) {
        if (id != id_) co_await fold_tab(id, tab, has_locks && !lives(id));
    }
}

/// Writes the fold of one tab, then removes the records that it covers. A reader that sees both
/// takes the fold. No reader misses both, because the writes of one process reach the others in
/// their order.
Task<void> LogCounter::fold_tab(std::string id, EntryLog::Tab tab, bool gone) {
    const bool by_age = !world().locks().available();
    const auto old_ms = static_cast<std::int64_t>(world().clock().now_ms() - times_.fold_after_ms);
    auto [covered, fold] = tab.fold();
    const auto already = covered;
    for (auto entry = tab.entries.find(covered + 1); entry != tab.entries.end();
         entry = tab.entries.find(covered + 1)) {
        if (!gone && !(by_age && entry->second.time_ms <= old_ms)) break;
        const auto sum = bounded_add(fold.amount, entry->second.amount);
        if (sum > value_max || sum < -value_max) break;
        fold = {sum, entry->second.time_ms};
        covered = entry->first;
    }
    if (covered == 0) co_return;
    if (covered > already) {
        const LogKey key{LogKey::Kind::fold, id, covered};
        co_await world().storage().set(prefix_ + format_log_key(key), format_log_record(fold));
        log_.put(key, fold);
    }
    for (const auto& [number, record] : tab.entries) {
        const LogKey key{LogKey::Kind::entry, id, number};
        if (number <= covered) co_await world().storage().remove(prefix_ + format_log_key(key));
    }
    for (const auto& [number, record] : tab.folds) {
        const LogKey key{LogKey::Kind::fold, id, number};
        if (number < covered) co_await world().storage().remove(prefix_ + format_log_key(key));
    }
}

Guarantee LogCounter::guarantee() const {
    return {.strategy = "log",
            .lost = "the last updates of a process that dies",
            .reads_wait = "never",
            .accuracy = "other tabs' increments arrive late",
            .rows = "a key per increment, then one per tab ever opened",
            .needs = "storage",
            .durability = "relaxed",
            .losses = {.lost = {lost_with_storage, lost_with_storage, lost_with_process},
                       .exceeded = {}}};
}

}  // namespace tabacus
