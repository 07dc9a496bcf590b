#include "lease.hpp"

#include <algorithm>
#include <utility>

#include "lease_times.hpp"
#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {
namespace {

/// How often a waiter reads the row: first, and at the end. A release is announced on the channel,
/// so that polling is needed only if that message was lost.
constexpr double poll_first_ms = 20;
constexpr double poll_last_ms = 500;

/// Returns what must stay the same until a lease has run out.
std::string state_of(std::string_view identifier, std::int64_t heartbeat) {
    return concat({identifier, "/", format_decimal(heartbeat)});
}

/// Returns the length of a stored lease in ms, within the bounds of a lease.
double bounded_lease(std::int64_t stored_ms) {
    return static_cast<double>(std::clamp(stored_ms, std::int64_t{1}, lease_hidden_ms));
}

void add_waiter(Blockers& blockers, const LineEntry& entry) {
    blockers[state_of(entry.id, entry.heartbeat)] = {bounded_lease(entry.lease_ms), entry.tab};
}

/// Puts the line of the lock `key`, if it was changed.
void put_line(Transaction& transaction, const std::string& key, const WaitingLine& before,
              const WaitingLine& line) {
    if (line == before) return;
    transaction.put(Store::locks, concat({key, line_suffix}), format_line(line));
}

}  // namespace

/// Reads the line. Returns an empty line if it cannot be read. That lets no tab enter that must
/// not, since only the lock's row excludes other tabs.
Task<WaitingLine> LeaseLock::read_line(Transaction& transaction) {
    const auto stored = co_await transaction.get(Store::locks, concat({key_, line_suffix}));
    auto line = stored ? parse_line(stored->value) : std::nullopt;
    co_return line.value_or(WaitingLine());
}

std::int64_t LeaseLock::lease_ms() const {
    return context_.world.lifecycle().hidden() ? lease_hidden_ms : lease_visible_ms;
}

Task<std::shared_ptr<NativeHold>> LeaseLock::acquire(NativeRequest request) {
    if (!request.steal) cancelled_ = false;
    const auto id = identifier_of(context_.world.random().bits());
    if (!request.steal && !request.if_available) waiting_ = id;
    double pause_ms = poll_first_ms;
    auto& departures = context_.departures;
    co_await departures.sweep();
    if (!std::exchange(departures_read_, true)) (void)co_await departures.read(key_, departures_);
    while (true) {
        Blockers blockers;
        auto hold = co_await try_now(request, id, blockers);
        blockers_.remember(blockers);
        if (hold && request.mode == LockMode::exclusive) {
            co_await departures.remove(std::exchange(departures_, {}));
        }
        const bool news = !hold && co_await departures.read(key_, departures_);
        if (news && !cancelled_) continue;
        if (hold || request.if_available) {
            if (waiting_ == id) waiting_.clear();
            co_return hold;
        }
        if (!cancelled_) {
            waits_ = true;
            co_await wait(pause_ms);
            waits_ = false;
            pause_ms = std::min(pause_ms * 2, poll_last_ms);
        }
        if (!cancelled_) continue;
        if (waiting_ == id) waiting_.clear();
        context_.scope.spawn(leave_line(id));
        co_return nullptr;
    }
}

Task<WaitingLine> LeaseLock::load_line() {
    constexpr Stores scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.begin(scope, Access::read, Durability::relaxed);
    co_return co_await read_line(*transaction);
}

Task<bool> LeaseLock::query_other_waiters(bool /*is_next*/) {
    auto line = co_await attempt(load_line());
    if (!line) co_return true;
    Blockers blockers;
    for (const auto& entry : line.value().entries) {
        const bool own = entry.tab == context_.epochs.tab();
        if (own || entry.kind == LineEntry::Kind::reads || dead(entry)) continue;
        add_waiter(blockers, entry);
    }
    blockers_.remember(blockers);
    co_return !blockers.empty();
}

Task<void> LeaseLock::wait(double delay_ms) {
    const Completer<Unit> over;
    wake_signal_ = over;
    context_.scope.spawn(complete_after(context_.world.clock(), delay_ms, over));
    co_await over.async();
}

/// Whether a waiter or a reader is gone: it announced its departure, or had no heartbeat for too
/// long.
bool LeaseLock::dead(const LineEntry& entry) const {
    return context_.departures.contains(entry.id) ||
           blockers_.stale(state_of(entry.id, entry.heartbeat));
}

bool LeaseLock::free(const std::optional<LockRow>& row, const WaitingLine& line) const {
    if (!row || row->heartbeat == 0 || blockers_.stale(state_of(row->grant, row->heartbeat)) ||
        context_.departures.contains(row->grant)) {
        return true;
    }
    const auto reads = [](const auto& entry) { return entry.kind == LineEntry::Kind::reads; };
    return line.grant == row->grant && std::ranges::any_of(line.entries, reads) &&
           std::ranges::all_of(line.entries, [&](const auto& entry) {
               return !reads(entry) || context_.departures.contains(entry.id);
           });
}

/// Whether readers hold the epoch of the row, so that another may join them.
bool LeaseLock::is_read(const std::optional<LockRow>& row, const WaitingLine& line) const {
    return !free(row, line) && line.grant == row->grant &&
           std::ranges::any_of(line.entries, [](const auto& entry) {
               return entry.kind == LineEntry::Kind::reads;
           });
}

Blockers LeaseLock::find_blockers(const std::optional<LockRow>& row, const WaitingLine& line,
                                  const NativeRequest& request, std::string_view id) const {
    Blockers blockers;
    if (request.steal) return blockers;
    const bool reads = request.mode == LockMode::shared;
    if (!free(row, line) && !(reads && is_read(row, line))) {
        blockers[state_of(row->grant, row->heartbeat)] = {bounded_lease(row->lease_ms), row->tab,
                                                          true};
    }
    for (const auto& entry : line.entries) {
        if (entry.id == id) break;
        if (dead(entry)) continue;
        const bool before =
            reads ? entry.kind == LineEntry::Kind::waits : entry.kind != LineEntry::Kind::reads;
        if (before) add_waiter(blockers, entry);
    }
    return blockers;
}

/// Tries to enter, in one transaction. Returns nothing if another tab holds the lock or is before
/// this one; `blockers` then has those tabs.
Task<std::shared_ptr<NativeHold>> LeaseLock::try_now(NativeRequest request, std::string id,
                                                     Blockers& blockers) {
    constexpr Stores scope{Store::locks, Store::quarantine};
    auto hold = std::make_shared<NativeHold>();
    hold->mode = request.mode;
    bool others_may_read = false;
    {
        const auto transaction =
            co_await context_.epochs.begin(scope, Access::write, Durability::relaxed);
        const auto row = co_await context_.epochs.read_in(*transaction, key_);
        const auto before = co_await read_line(*transaction);
        auto line = before;
        std::erase_if(line.entries, [&](const auto& entry) {
            return entry.kind != LineEntry::Kind::reads && dead(entry);
        });
        blockers = find_blockers(row, line, request, id);
        if (!blockers.empty()) {
            if (!request.if_available) {
                join_line(line, request, id);
                put_line(*transaction, key_, before, line);
                co_await transaction->commit();
            }
            co_return nullptr;
        }
        std::erase_if(line.entries, [&](const auto& entry) { return entry.id == id; });
        hold->tokens = co_await enter(*transaction, row, line, request);
        if (request.mode == LockMode::shared) {
            const auto& reader = hold->reader = identifier_of(context_.world.random().bits());
            add_reader(line, reader);
            others_may_read = line.entries.front().kind == LineEntry::Kind::waits_to_read;
        }
        put_line(*transaction, key_, before, line);
        co_await transaction->commit();
    }
    if (others_may_read) context_.messages.post(LockMessage::Kind::released, key_);
    context_.scope.spawn(renew(hold));
    co_return hold;
}

/// Adds this tab's entry to the line, or renews it with the next heartbeat. Each entry has a number
/// of heartbeats that this tab has not used before: a live waiter that was presumed dead is thereby
/// another blocker for the tabs that presumed so.
void LeaseLock::join_line(WaitingLine& line, const NativeRequest& request, const std::string& id) {
    const auto own = std::find_if(line.entries.begin(), line.entries.end(),
                                  [&](const auto& entry) { return entry.id == id; });
    const auto kind =
        request.mode == LockMode::shared ? LineEntry::Kind::waits_to_read : LineEntry::Kind::waits;
    if (own != line.entries.end()) {
        own->heartbeat = ++heartbeats_;
        own->lease_ms = lease_ms();
    } else if (line.entries.size() + 1 < WaitingLine::entries_max) {
        line.entries.push_back({kind, id, context_.epochs.tab(), ++heartbeats_, lease_ms()});
    }
}

/// Adds a reader to the line. If the line is almost full, adds an entry that no reader owns
/// instead. While that entry exists, no reader knows that it is the last one, so that the epoch
/// ends by running out.
void LeaseLock::add_reader(WaitingLine& line, const std::string& id) const {
    const auto size = line.entries.size();
    if (size >= WaitingLine::entries_max) return;
    line.entries.push_back(
        {LineEntry::Kind::reads,
         size + 1 < WaitingLine::entries_max ? id : identifier_of(context_.world.random().bits()),
         context_.epochs.tab(), 0, lease_ms()});
}

/// Joins the epoch of the readers if the request may share it, with a heartbeat for the epoch.
/// Otherwise begins an epoch.
Task<LockTokens> LeaseLock::enter(Transaction& transaction, const std::optional<LockRow>& row,
                                  WaitingLine& line, NativeRequest request) {
    auto claim = request.claim;
    claim.lease_ms = lease_ms();
    if (request.mode == LockMode::shared && is_read(row, line)) {
        auto joined = *row;
        ++joined.heartbeat;
        joined.lease_ms = std::max(joined.lease_ms, claim.lease_ms);
        transaction.put(Store::locks, key_, format_lock_row(joined));
        co_return LockTokens{row->grant, row->born, row->fence, row->fence, row->last, claim, true};
    }
    auto tokens = co_await context_.epochs.raise_in(transaction, key_, claim);
    std::erase_if(line.entries,
                  [](const auto& entry) { return entry.kind == LineEntry::Kind::reads; });
    line.grant =
        request.mode == LockMode::shared ? tokens.grant : std::string(WaitingLine::no_grant);
    co_return tokens;
}

Task<void> LeaseLock::leave_line(std::string id) {
    constexpr Stores scope{Store::locks};
    const auto left =
        co_await attempt([](LeaseLock& self, Stores stores, std::string own) -> Task<void> {
            const auto transaction =
                co_await self.context_.epochs.begin(stores, Access::write, Durability::relaxed);
            const auto before = co_await self.read_line(*transaction);
            auto line = before;
            std::erase_if(line.entries, [&](const auto& entry) { return entry.id == own; });
            put_line(*transaction, self.key_, before, line);
            co_await transaction->commit();
        }(*this, scope, std::move(id)));
    if (left) context_.messages.post(LockMessage::Kind::released, key_);
}

/// Renews the lease three times within its length. Notifies the holder when another tab has taken
/// the lease.
Task<void> LeaseLock::renew(std::weak_ptr<NativeHold> weak) {
    while (true) {
        co_await context_.world.clock().sleep(static_cast<double>(lease_visible_ms) / 3);
        const auto hold = weak.lock();
        if (!hold || hold->lost) co_return;
        const auto renewed = co_await attempt(renew_once(hold));
        if (renewed || renewed.error().code() != ErrorCode::fenced) continue;
        if (hold->on_lost) hold->on_lost("fenced");
        co_return;
    }
}

Task<void> LeaseLock::renew_once(std::shared_ptr<NativeHold> hold) {
    constexpr Stores scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, hold->tokens);
    ++row.heartbeat;
    // If several tabs share the lease, the longest of their leases counts.
    const bool shared = !hold->reader.empty();
    row.lease_ms = shared ? std::max(row.lease_ms, lease_ms()) : lease_ms();
    transaction->put(Store::locks, key_, format_lock_row(row));
    if (shared) {
        const auto before = co_await read_line(*transaction);
        auto line = before;
        const auto& id = hold->reader;
        std::erase_if(line.entries, [&](const auto& entry) {
            return entry.id == id ||
                   (entry.kind == LineEntry::Kind::reads && line.grant != row.grant);
        });
        // If the line was lost, nobody knows which other tabs read: an unnamed entry stands for
        // them.
        if (std::exchange(line.grant, row.grant) != row.grant) {
            add_reader(line, identifier_of(context_.world.random().bits()));
        }
        add_reader(line, id);
        put_line(*transaction, key_, before, line);
    }
    co_await transaction->commit();
}

void LeaseLock::on_possible_release() { wake_signal_.complete({}); }

void LeaseLock::cancel() {
    cancelled_ = true;
    if (!waiting_.empty()) announce_departure(waiting_);
    wake_signal_.complete({});
}

void LeaseLock::release(const std::shared_ptr<NativeHold>& hold) {
    const auto& reader = hold->reader;
    announce_departure(reader.empty() ? hold->tokens.grant : reader);
    context_.scope.spawn(give_back(hold));
}

/// Announces a departure to all tabs. Notes it in this tab, too, because a tab does not receive its
/// own messages and may be frozen before it reads the row again.
void LeaseLock::announce_departure(const std::string& id) {
    context_.departures.note({id});
    context_.messages.post(LockMessage::Kind::released, key_, {id});
    if (context_.state.suspended()) context_.scope.spawn(context_.departures.store(key_, id));
}

Task<void> LeaseLock::give_back(std::shared_ptr<NativeHold> hold) {
    // If this fails, the lease expires by itself, or it already belongs to another tab.
    if (co_await attempt(end_lease(std::move(hold)))) {
        context_.messages.post(LockMessage::Kind::released, key_);
    }
}

/// The last of the readers ends their epoch, if it is known to be the last.
Task<void> LeaseLock::end_lease(std::shared_ptr<NativeHold> hold) {
    constexpr Stores scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, hold->tokens);
    const auto before = co_await read_line(*transaction);
    auto line = before;
    const bool shared = !hold->reader.empty();
    const auto named =
        std::erase_if(line.entries, [&](const auto& entry) { return entry.id == hold->reader; });
    if (shared && (named == 0 || line.grant != row.grant)) co_return;  // the epoch runs out
    const auto other =
        std::find_if(line.entries.begin(), line.entries.end(),
                     [](const auto& entry) { return entry.kind == LineEntry::Kind::reads; });
    if (shared && other != line.entries.end()) {
        row.tab = other->tab;
    } else {
        row.heartbeat = 0;
    }
    transaction->put(Store::locks, key_, format_lock_row(row));
    put_line(*transaction, key_, before, line);
    co_await transaction->commit();
}

}  // namespace tabacus
