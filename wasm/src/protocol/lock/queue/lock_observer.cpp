#include "lock_observer.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "protocol/common/abortable_transactions.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"
#include "protocol/lock/lock_timers.hpp"

namespace tabacus {
namespace {

/// Living tabs answer within a few milliseconds; a frozen one never does.
constexpr double answer_within_ms = 50;
constexpr std::size_t fields_of_request = 4;
/// How many fields a report may have after its nonce; one more is for an idle hold.
constexpr std::size_t detail_max = lock_fields_max - lock_fields_min - 1;
/// The last field of a report, after the requests, if this tab keeps the native lock (exclusive or
/// shared) in its grace period. Without it, the tab that asks could not tell this tab, which the
/// browser counts as a client of the lock, from tabs that do not use the lock and answer too.
constexpr std::string_view idle_exclusive = "k";
constexpr std::string_view idle_shared = "s";
/// The most reads of a lease's row until one of the tabs that wait has taken the lease.
constexpr int reads_max = 10;
constexpr double read_again_ms = 20;
/// How often a tab that watches checks whether a holder that it does not follow has crashed.
constexpr double crash_poll_ms = 1'000;

/// The clients that hold or request a lock or its entry lock, as the browser reports them.
struct LockClients {
    std::vector<std::string> ids;
    bool held = false;
    bool held_exclusively = false;
    bool counted = true;  // false if the browser refuses to report them
};

Task<LockClients> clients_of(LockContext& context, const std::string& key) {
    LockClients clients;
    if (!context.world.locks().available()) co_return clients;
    const auto entry_lock = context.names.entry_lock(key);
    const auto own_lock = context.names.lock(key);
    const auto answer = co_await context.queries.query(own_lock);
    clients.counted = answer->snapshot.complete;
    for (const auto& lock : answer->holders_of(entry_lock)) clients.ids.push_back(lock.client_id);
    for (const auto& lock : answer->holders_of(own_lock)) {
        clients.ids.push_back(lock.client_id);
        clients.held = true;
        if (lock.mode == LockMode::exclusive) clients.held_exclusively = true;
    }
    for (const auto& lock : answer->snapshot.pending) {
        if (lock.name == entry_lock || lock.name == own_lock) clients.ids.push_back(lock.client_id);
    }
    sort_stably(clients.ids, std::less<>());
    clients.ids.erase(std::unique(clients.ids.begin(), clients.ids.end()), clients.ids.end());
    co_return clients;
}

std::optional<LockRequestInfo> parse_info(const std::vector<std::string>& detail, std::size_t at,
                                          const std::string& tab) {
    const auto since_ms = parse_since(detail[at + 2]);
    const auto& held = detail[at];
    const auto& mode = detail[at + 1];
    if (!since_ms || (held != "h" && held != "w") || (mode != "x" && mode != "s"))
        return std::nullopt;
    return LockRequestInfo{held == "h", mode == "x" ? LockMode::exclusive : LockMode::shared,
                           detail[at + 3], *since_ms, tab};
}

/// Returns the lock's row. Where a lease excludes, the next tab takes a released lock only a moment
/// later; if tabs wait, this reads the row again until one of them holds the lock. Sets
/// `tabs_wait`.
Task<std::optional<LockRow>> settled_row(LockContext& context, std::string key, bool& tabs_wait) {
    for (int reads = 0;; ++reads) {
        auto row = co_await context.epochs.read(key);
        if (row && context.departures.contains(row->grant)) row->heartbeat = 0;
        if (context.world.locks().available()) co_return row;
        tabs_wait = co_await context.epochs.lined_up(key);
        if (!tabs_wait || (row && row->heartbeat > 0) || reads == reads_max) co_return row;
        co_await context.world.clock().sleep(read_again_ms);
    }
}

}  // namespace

/// A query of this tab for the requests of all others.
struct LockObserver::TabQuery {
    std::string nonce;
    std::vector<LockRequestInfo> answers;
    std::vector<std::string> tabs;
    std::size_t clients = 0;  // the browser's clients of this lock
    std::size_t clients_answered = 0;
    bool exclusive = false;  // the lock is held exclusively
    bool holder = false;     // a holder in that mode is known, or no tab holds the lock
    Completer<Unit> complete;

    void note(const LockMessage& message);
};

// --- Own requests -------------------------------------------------------------------------------

std::vector<LockRequestInfo> LockObserver::own_requests() const {
    std::vector<LockRequestInfo> infos;
    const auto& tab = lock_.context.epochs.tab();
    for (const auto& grant : holds_.holders()) {
        infos.push_back({true, grant->mode, grant->label, grant->since_ms, tab});
    }
    for (const auto& request : requests_.all()) {
        if (request->ended) continue;
        infos.push_back(
            {false, request->options.mode, request->options.label, request->since_ms, tab});
    }
    return infos;
}

void LockObserver::on_query(const LockMessage& query) {
    if (query.detail.empty()) return;
    const auto& nonce = query.detail[0];
    if (holds_.in_use() && lock_.has_web_locks()) {
        lock_.spawn(report_alive(nonce));
    } else if (!nonce.empty()) {
        report(nonce);
    }
}

/// Reports once this tab has its liveness lock, or cannot have it.
Task<void> LockObserver::report_alive(std::string nonce) {
    const auto liveness = co_await lock_.context.liveness.acquire();
    for (const auto& hold : holds_.all()) hold->liveness = liveness;
    report(std::move(nonce));
}

void LockObserver::report(std::string nonce) const {
    std::vector<std::string> detail{std::move(nonce)};
    for (const auto& info : own_requests()) {
        if (detail.size() + fields_of_request > detail_max) break;  // holders come first
        detail.emplace_back(info.held ? "h" : "w");
        detail.emplace_back(info.mode == LockMode::exclusive ? "x" : "s");
        detail.push_back(format_since(info.since_ms));
        detail.push_back(info.label);
    }
    if (const auto mode = holds_.idle_mode()) {
        detail.emplace_back(*mode == LockMode::exclusive ? idle_exclusive : idle_shared);
    }
    lock_.post(LockMessage::Kind::report, std::move(detail));
}

void LockObserver::on_report(const LockMessage& message) {
    if (message.detail.empty()) return;
    if (!reports_hold(message) || !listeners_.watched()) {
        unfollow(message.tab);
    } else {
        follow(message.tab);
        if (std::exchange(holder_missed_, false)) listeners_.changed();
    }
    const auto& nonce = message.detail[0];
    const auto asked = std::find_if(queries_.begin(), queries_.end(),
                                    [&](const auto& pending) { return pending->nonce == nonce; });
    if (asked == queries_.end()) return;
    // A copy: query() may end, and remove the query, within complete().
    const auto pending = *asked;  // NOLINT(performance-unnecessary-copy-initialization)
    auto& tabs = pending->tabs;
    if (std::find(tabs.begin(), tabs.end(), message.tab) != tabs.end()) return;
    tabs.push_back(message.tab);
    pending->note(message);
    if (pending->clients_answered >= pending->clients && pending->holder) {
        pending->complete.complete({});
    }
}

void LockObserver::TabQuery::note(const LockMessage& message) {
    const auto& detail = message.detail;
    bool client = false;
    const auto found = [&](LockMode mode) { holder |= mode == LockMode::exclusive || !exclusive; };
    for (std::size_t i = 1; i + fields_of_request <= detail.size(); i += fields_of_request) {
        const auto info = parse_info(detail, i, message.tab);
        if (!info) continue;
        client = true;
        answers.push_back(*info);
        if (info->held) found(info->mode);
    }
    const bool one_more = detail.size() % fields_of_request == 2;
    if (one_more && (detail.back() == idle_exclusive || detail.back() == idle_shared)) {
        client = true;
        found(detail.back() == idle_exclusive ? LockMode::exclusive : LockMode::shared);
    }
    // Every tab that ever used the lock answers, but the browser counts only those that use it.
    if (client) ++clients_answered;
}

// --- Queries of this tab ------------------------------------------------------------------------

Task<std::vector<LockRequestInfo>> LockObserver::query(Owner owner) {
    return read_again(lock_.context.world,
                      [this, owner = std::move(owner)] { return query_tabs(); });
}

/// Whether the browser counts this tab among the clients of the lock.
bool LockObserver::uses_native_lock() const {
    return holds_.any() || (holds_.acquiring() && !availability_.refused());
}

Task<std::vector<LockRequestInfo>> LockObserver::query_tabs() {
    const bool used_before = uses_native_lock();
    const auto seen = co_await clients_of(lock_.context, lock_.key);
    const auto& clients = seen.ids;
    bool held_exclusively = seen.held_exclusively;
    if (seen.held && !holds_.current()) note_held();
    auto infos = own_requests();
    // This tab is one of the clients if it used the lock when the snapshot was taken.
    const std::size_t own = used_before && uses_native_lock() ? 1 : 0;
    bool tabs_wait = false;
    const auto row = co_await settled_row(lock_.context, lock_.key, tabs_wait);
    if (row && row->heartbeat > 0 && clients.empty()) held_exclusively = true;
    // If no tab knows how many tabs use the lock, as with a lease, the query lasts
    // answer_within_ms.
    const bool uncounted = lock_.has_web_locks() ? !seen.counted && seen.held
                                                 : tabs_wait || (row && row->heartbeat > 0);
    const bool others = clients.size() > own || uncounted;
    std::vector<std::string> answered{lock_.context.epochs.tab()};
    const auto holds = [&](LockMode mode) {
        return mode == LockMode::exclusive || !held_exclusively;
    };
    const auto idle_mode = holds_.idle_mode();
    bool found = (idle_mode && holds(*idle_mode)) ||
                 std::any_of(infos.begin(), infos.end(),
                             [&](const auto& info) { return info.held && holds(info.mode); });
    if (others && lock_.context.messages.available()) {
        const auto pending = std::make_shared<TabQuery>();
        pending->exclusive = held_exclusively;
        pending->holder = found || !(seen.held || held_exclusively);
        pending->clients = uncounted ? SIZE_MAX : clients.size() - own;
        co_await post_query(pending);
        found = pending->holder;
        holder_missed_ = !found;
        infos.insert(infos.end(), pending->answers.begin(), pending->answers.end());
        answered.insert(answered.end(), pending->tabs.begin(), pending->tabs.end());
    }
    // A frozen holder does not answer, but the row of its epoch names it. If a holder has answered,
    // the row may name a former holder, because a holder writes the row only when it commits or
    // holds the lock for long.
    const bool silent =
        row && std::find(answered.begin(), answered.end(), row->tab) == answered.end();
    if (held_exclusively && !found && silent) {
        infos.push_back(
            {true, LockMode::exclusive, row->label, static_cast<double>(row->since_ms), row->tab});
    }
    sort_stably(infos, [](const auto& a, const auto& b) {
        return a.held != b.held ? a.held : a.since_ms < b.since_ms;
    });
    co_return infos;
}

/// Posts the query to all tabs. Waits until all tabs that use the lock have reported, but at most
/// answer_within_ms.
Task<void> LockObserver::post_query(std::shared_ptr<TabQuery> pending) {
    pending->nonce = identifier_of(lock_.context.world.random().bits());
    queries_.push_back(pending);
    lock_.spawn([](World& world, Completer<Unit> complete) -> Task<void> {
        co_await sleep_for_answers(world, answer_within_ms);
        complete.complete({});
    }(lock_.context.world, pending->complete));
    lock_.post(LockMessage::Kind::query, {pending->nonce});
    co_await pending->complete.async();
    std::erase(queries_, pending);
}

// --- Watching -----------------------------------------------------------------------------------

void LockObserver::on_waiter() {
    waiter_seen_ = true;
    if (held_seen_ || holds_.in_use()) listeners_.waits();
}

void LockObserver::on_released(const std::string& tab) {
    // A tab that was fenced may announce this after the next holder has announced its grant.
    const bool unknown = holder_unknown();
    unfollow(tab);
    held_seen_ = unknown || !followed_.empty();
    if (waiter_seen_) note_held();
}

void LockObserver::on_taken(const std::string& tab) {
    waiter_seen_ = false;
    // A holder that was followed may have lost the lock without a message.
    if (!followed_.contains(tab)) unfollow_all();
    note_held();
    listeners_.changed();
}

Subscription LockObserver::on_change(Function<void()> callback) {
    const bool first = !listeners_.watched();
    auto subscription = listeners_.on_change(std::move(callback));
    lock_.listen_near();
    if (first) lock_.spawn(find_holders());
    return subscription;
}

/// Requests the liveness lock of a holder; its grant means that the holder has died or stopped.
/// Requesting the lock itself would show that, too, but if this tab were busy when that request was
/// granted, it would exclude all other tabs meanwhile.
void LockObserver::follow(const std::string& tab) {
    if (!lock_.has_web_locks() || lock_.context.state.stopped()) return;
    const auto [followed, added] = followed_.try_emplace(tab);
    if (added) lock_.spawn(await_end(tab, followed->second));
}

Task<void> LockObserver::await_end(std::string tab, AbortSignal unfollowed) {
    auto& context = lock_.context;
    const auto name = context.names.liveness(tab);
    auto answer = co_await attempt(context.queries.query());
    // Another watcher may have the lock for a moment, after the holder has stopped.
    const auto holds = [](const LockInfo& lock) { return lock.mode == LockMode::exclusive; };
    const auto holders = answer ? answer.value()->holders_of(name) : std::span<const LockInfo>();
    // The report may be older than an announced release, which came by another channel.
    const bool locked =
        answer && !answer.value()->holders_of(context.names.lock(lock_.key)).empty();
    const bool alive = locked && std::any_of(holders.begin(), holders.end(), holds);
    bool ended = false;
    if (alive && !unfollowed.aborted()) {
        ended = static_cast<bool>(co_await attempt(context.world.locks().request(
            {.name = name, .mode = LockMode::shared, .signal = unfollowed})));
    }
    if (unfollowed.aborted()) co_return;
    followed_.erase(tab);
    if (!ended) co_return note_held();
    held_seen_ = !followed_.empty();
    listeners_.changed();
}

void LockObserver::unfollow(const std::string& tab) {
    const auto followed = followed_.extract(tab);
    if (!followed.empty()) followed.mapped().abort();
}

void LockObserver::unfollow_all() {
    for (const auto& [tab, signal] : std::exchange(followed_, {})) signal.abort();
}

/// Whether a caller watches the lock, and another tab holds it that is not followed.
bool LockObserver::holder_unknown() const {
    return held_seen_ && followed_.empty() && listeners_.watched() &&
           !lock_.context.state.stopped();
}

/// Notes that another tab holds the lock.
void LockObserver::note_held() {
    held_seen_ = true;
    if (!polling_ && lock_.has_web_locks()) lock_.spawn(poll_for_crash());
}

/// Finds out whether other tabs hold the lock, and asks these to report.
Task<void> LockObserver::find_holders() {
    if (!lock_.has_web_locks()) co_return;
    lock_.post(LockMessage::Kind::query, {""});
    (void)co_await attempt(check_for_crash());
    if (held_seen_) note_held();
}

Task<void> LockObserver::poll_for_crash() {
    polling_ = true;
    while (holder_unknown()) {
        co_await lock_.clock().sleep(crash_poll_ms);
        if (holder_unknown()) co_await find_holders();
    }
    polling_ = false;
}

Task<void> LockObserver::check_for_crash() {
    if (lock_.context.state.suspended()) co_return;
    const auto clients = co_await clients_of(lock_.context, lock_.key);
    const bool crashed = held_seen_ && !clients.held;
    waiter_seen_ &= clients.held;
    held_seen_ = clients.held && !holds_.current();
    if (crashed) listeners_.changed();
}

Task<void> LockObserver::wait_for_unlock(Owner owner, std::optional<AbortSignal> signal,
                                         std::optional<double> timeout_ms) {
    if (signal && signal->aborted()) co_await fail(ErrorCode::aborted, "the wait was aborted");
    struct Wait {
        Completer<Unit> changed;
        std::optional<ErrorCode> end;
    };
    /// RAII guard: sets `flag` when the wait ends, in whatever way.
    struct Over {
        std::shared_ptr<bool> flag = std::make_shared<bool>(false);
        ~Over() { *flag = true; }
    };
    const auto wait = std::make_shared<Wait>();
    const Over over;
    const auto stop = [](const std::shared_ptr<Wait>& of, ErrorCode code) {
        if (of->end != ErrorCode::aborted) of->end = code;
        of->changed.complete({});
    };
    if (signal) signal->on_abort([wait, stop] { stop(wait, ErrorCode::aborted); });
    if (timeout_ms) {
        lock_.spawn([](World& world, double delay_ms, std::shared_ptr<Wait> of, decltype(stop) halt,
                       std::shared_ptr<bool> flag) -> Task<void> {
            if (co_await outlasts(world, delay_ms, std::move(flag), true)) {
                halt(of, ErrorCode::timed_out);
            }
        }(lock_.context.world, *timeout_ms, wait, stop, over.flag));
    }
    const auto changes = on_change([wait] { wait->changed.complete({}); });
    while (!wait->end) {
        wait->changed = {};
        // Nothing is known before the page is shown, which wakes this wait.
        const bool locked =
            lock_.context.world.lifecycle().prerendering() || co_await is_locked(owner);
        // If the lock is free, even the shortest timeout was long enough.
        if (!locked && wait->end != ErrorCode::aborted) co_return;
        if (wait->end) break;
        co_await wait->changed.async();
    }
    const bool timed_out = wait->end == ErrorCode::timed_out;
    co_await fail(*wait->end,
                  timed_out ? "the lock was not released in time" : "the wait was aborted");
}

Task<bool> LockObserver::is_locked(Owner owner) {
    const auto infos = co_await query(std::move(owner));
    co_return std::any_of(infos.begin(), infos.end(), [](const auto& info) { return info.held; });
}

}  // namespace tabacus
