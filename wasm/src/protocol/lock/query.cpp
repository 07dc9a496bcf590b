// The requests of all tabs, held and waiting: each tab knows its own requests, and reports them to
// a tab that asks.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <functional>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/stable_sort.hpp"

namespace tabacus {
namespace {

/// Living tabs answer within a few; a frozen one never does.
constexpr double answer_within_ms = 50;
constexpr std::size_t fields_of_request = 4;
/// The fields of a report after its nonce; one more is for an idle hold.
constexpr std::size_t detail_max = lock_fields_max - lock_fields_min - 1;
/// After the requests: this tab has the native lock, exclusive or shared, for none of them. It
/// reports so, since tabs answer that do not use the lock, and their answers may come first.
constexpr std::string_view idle_exclusive = "k";
constexpr std::string_view idle_shared = "s";
/// A lease that nobody holds and somebody waits for is taken within these.
constexpr int reads_max = 10;
constexpr double held_again_ms = 20;
/// How soon a tab that only watches notices that a holder died, when no other tab succeeds it.
constexpr double crash_poll_ms = 1'000;

/// The clients that hold or request a lock or its entry lock, as the browser reports them.
struct LockClients {
    std::vector<std::string> ids;
    bool held = false;
    bool held_exclusively = false;
};

Task<LockClients> clients_of(LockContext& context, const std::string& key) {
    LockClients clients;
    if (!context.world.locks().available()) co_return clients;
    const auto snapshot = co_await context.world.locks().query();
    const auto note = [&](const LockInfo& lock, bool held) {
        const bool is_entry = lock.name == context.names.entry_lock(key);
        if (!is_entry && lock.name != context.names.lock(key)) return;
        clients.ids.push_back(lock.client_id);
        if (is_entry || !held) return;
        clients.held = true;
        if (lock.mode == LockMode::exclusive) clients.held_exclusively = true;
    };
    for (const auto& lock : snapshot.held) note(lock, true);
    for (const auto& lock : snapshot.pending) note(lock, false);
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

/// What is recorded. Over the lease who is next takes it by itself, a moment after a release: until
/// then, if any wait in `line`.
Task<std::optional<LockRow>> settled_row(LockContext& context, std::string key, bool& line) {
    for (int reads = 0;; ++reads) {
        auto row = co_await context.epochs.read(key);
        if (row && context.gone.contains(row->grant)) row->heartbeat = 0;
        if (context.world.locks().available()) co_return row;
        line = co_await context.epochs.lined_up(key);
        if (!line || (row && row->heartbeat > 0) || reads == reads_max) co_return row;
        co_await context.world.clock().sleep(held_again_ms);
    }
}

}  // namespace

/// Returns the grants of this tab, under every native hold of the lock.
std::vector<std::shared_ptr<Grant>> LockQueue::holders() const {
    std::vector<std::shared_ptr<Grant>> all;
    if (hold_) all = hold_->active;
    for (const auto& hold : stolen_) {
        all.insert(all.end(), hold->active.begin(), hold->active.end());
    }
    return all;
}

std::vector<LockRequestInfo> LockQueue::own_requests() const {
    std::vector<LockRequestInfo> infos;
    const auto& tab = context_.epochs.tab();
    for (const auto& grant : holders()) {
        infos.push_back({true, grant->mode, grant->label, grant->since_ms, tab});
    }
    for (const auto& request : waiting_) {
        if (request->ended) continue;
        infos.push_back(
            {false, request->options.mode, request->options.label, request->since_ms, tab});
    }
    return infos;
}

/// The mode of the native hold, if this tab keeps it for its next request and nobody holds the
/// lock.
std::optional<LockMode> LockQueue::idle_hold_mode() const {
    if (!hold_ || !hold_->active.empty()) return std::nullopt;
    return hold_->mode;
}

/// Answers another tab's query with what this tab holds and waits for.
void LockQueue::report_requests(const LockMessage& query) {
    if (query.detail.empty()) return;
    std::vector<std::string> detail{query.detail[0]};
    for (const auto& info : own_requests()) {
        if (detail.size() + fields_of_request > detail_max) break;  // holders come first
        detail.emplace_back(info.held ? "h" : "w");
        detail.emplace_back(info.mode == LockMode::exclusive ? "x" : "s");
        detail.push_back(format_since(info.since_ms));
        detail.push_back(info.label);
    }
    if (const auto mode = idle_hold_mode()) {
        detail.emplace_back(*mode == LockMode::exclusive ? idle_exclusive : idle_shared);
    }
    context_.post(LockMessage::Kind::report, key_, std::move(detail));
}

/// Adds another tab's report to the query of this tab that it answers.
void LockQueue::collect_report(const LockMessage& message) {
    if (message.detail.empty()) return;
    const auto& nonce = message.detail[0];
    const auto asked = std::find_if(tab_queries_.begin(), tab_queries_.end(),
                                    [&](const auto& pending) { return pending->nonce == nonce; });
    if (asked == tab_queries_.end()) return;
    // Kept: query() may end, and forget it, within complete().
    const auto pending = *asked;  // NOLINT(performance-unnecessary-copy-initialization)
    auto& tabs = pending->tabs;
    if (std::find(tabs.begin(), tabs.end(), message.tab) != tabs.end()) return;
    tabs.push_back(message.tab);
    pending->note(message);
    if (pending->clients_answered >= pending->clients && pending->holder) {
        pending->complete.complete({});
    }
}

void LockQueue::TabQuery::note(const LockMessage& message) {
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
    // Every tab that ever used the lock answers, and the browser counts those that use it.
    if (client) ++clients_answered;
}

Task<std::vector<LockRequestInfo>> LockQueue::query() {
    return read_again(context_.world, [this] { return query_tabs(); });
}

Task<std::vector<LockRequestInfo>> LockQueue::query_tabs() {
    const auto known = [this] { return hold_ || (acquiring_ && !refused_) || !stolen_.empty(); };
    const bool known_before = known();
    const auto seen = co_await clients_of(context_, key_);
    const auto& clients = seen.ids;
    bool held_exclusively = seen.held_exclusively;
    if (seen.held && !hold_) held_seen_ = true;
    auto infos = own_requests();
    // One of the clients, if the snapshot was taken while this tab had to do with the lock.
    const std::size_t own = known_before && known() ? 1 : 0;
    bool line = false;
    const auto row = co_await settled_row(context_, key_, line);
    if (row && row->heartbeat > 0 && clients.empty()) held_exclusively = true;
    // Over the lease nobody knows how many there are: all have the time to answer.
    const bool lease = !context_.world.locks().available() && (line || (row && row->heartbeat > 0));
    const bool others = clients.size() > own || lease;
    std::vector<std::string> answered{context_.epochs.tab()};
    const auto holds = [&](LockMode mode) {
        return mode == LockMode::exclusive || !held_exclusively;
    };
    const auto idle_mode = idle_hold_mode();
    bool found = (idle_mode && holds(*idle_mode)) ||
                 std::any_of(infos.begin(), infos.end(),
                             [&](const auto& info) { return info.held && holds(info.mode); });
    if (others && context_.channel) {
        const auto pending = std::make_shared<TabQuery>();
        pending->exclusive = held_exclusively;
        pending->holder = found || !(seen.held || held_exclusively);
        pending->clients = lease ? SIZE_MAX : clients.size() - own;
        co_await post_query(pending);
        found = pending->holder;
        infos.insert(infos.end(), pending->answers.begin(), pending->answers.end());
        answered.insert(answered.end(), pending->tabs.begin(), pending->tabs.end());
    }
    // A frozen holder does not answer, but the row of its epoch names it. Where the holder has
    // answered the row may be a former one's: its own is written when it commits, or holds for
    // long.
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

/// Posts the query to all tabs, and waits until those have answered that matter, or had the time.
Task<void> LockQueue::post_query(std::shared_ptr<TabQuery> pending) {
    pending->nonce = identifier_of(context_.world.random().bits());
    tab_queries_.push_back(pending);
    context_.scope.spawn([](LockContext& context, Completer<Unit> complete) -> Task<void> {
        co_await sleep_for_answers(context.world, answer_within_ms);
        complete.complete({});
    }(context_, pending->complete));
    context_.post(LockMessage::Kind::query, key_, {pending->nonce});
    co_await pending->complete.async();
    std::erase(tab_queries_, pending);
}

Subscription LockQueue::on_change(Function<void()> callback) {
    auto subscription = change_listeners_.add(std::move(callback));
    if (!crash_polling_) context_.scope.spawn(poll_for_crash());
    return subscription;
}

/// Polls for the death of a holder while somebody watches: a living tab announces what it does, but
/// a holder that dies sends nothing. The watcher does not wait for the lock itself: if it were busy
/// when its turn came, it would keep all others out.
Task<void> LockQueue::poll_for_crash() {
    if (!context_.world.locks().available()) co_return;
    const auto self = weak_from_this();
    crash_polling_ = true;
    while (!self.expired() && !change_listeners_.empty() && !context_.closed) {
        (void)co_await attempt(check_for_crash());
        co_await context_.world.clock().sleep(crash_poll_ms);
    }
    crash_polling_ = false;
}

Task<void> LockQueue::check_for_crash() {
    if (context_.suspended) co_return;
    const auto clients = co_await clients_of(context_, key_);
    const bool died = held_seen_ && !clients.held;
    held_seen_ = clients.held && !hold_;
    if (died) changed();
}

Task<void> LockQueue::wait_for_unlock(std::optional<AbortSignal> signal,
                                      std::optional<double> timeout_ms) {
    if (signal && signal->aborted()) co_await fail(ErrorCode::aborted, "the wait was aborted");
    struct Wait {
        Completer<Unit> changed;
        std::optional<ErrorCode> end;
    };
    /// RAII guard: raises `flag` when the wait ends, in whatever way.
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
        context_.scope.spawn([](World& world, double delay_ms, std::shared_ptr<Wait> of,
                                decltype(stop) halt, std::shared_ptr<bool> flag) -> Task<void> {
            if (co_await outlasts(world, delay_ms, std::move(flag), true)) {
                halt(of, ErrorCode::timed_out);
            }
        }(context_.world, *timeout_ms, wait, stop, over.flag));
    }
    const auto changes = on_change([wait] { wait->changed.complete({}); });
    while (!wait->end) {
        wait->changed = {};
        const bool locked = co_await is_locked();
        // If the lock is free, even the shortest timeout was long enough.
        if (!locked && wait->end != ErrorCode::aborted) co_return;
        if (wait->end) break;
        co_await wait->changed.async();
    }
    const bool late = wait->end == ErrorCode::timed_out;
    co_await fail(*wait->end, late ? "the lock was not released in time" : "the wait was aborted");
}

Task<bool> LockQueue::is_locked() {
    const auto infos = co_await query();
    co_return std::any_of(infos.begin(), infos.end(), [](const auto& info) { return info.held; });
}

}  // namespace tabacus
