#include "lease.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "protocol/common/record.hpp"

namespace tabacus {
namespace {

constexpr std::int64_t lease_visible_ms = 5'000;
/// A hidden tab's timers may run once a minute: a renewal a minute, and half as much again.
constexpr std::int64_t lease_hidden_ms = 90'000;
/// A release is announced on the channel; polling is for a message that was lost.
constexpr double poll_first_ms = 20;
constexpr double poll_last_ms = 500;
/// Timers of a hidden tab go off once a second.
constexpr double poll_hidden_ms = 1'000;

/// What must not change for a lease to have run out.
std::string state_of(std::string_view identifier, std::int64_t heartbeat) {
    return std::string(identifier) + "/" + std::to_string(heartbeat);
}

/// More than are gone while somebody waits.
constexpr std::size_t gone_max = 1'024;
/// How many departures in localStorage are read.
constexpr std::size_t departures_max = 512;
constexpr std::size_t known_blockers_max = 64;
/// How many fields an entry of the line has, and where the first begins.
constexpr std::size_t fields_of_entry = 5;
constexpr std::size_t fields_before = 2;
/// More than any line has. The last entry is for a reader without a name (add_reader).
constexpr std::size_t entries_max = 1'024;
constexpr std::size_t line_fields_max = fields_before + entries_max * fields_of_entry;
/// A line of nobody's epoch.
constexpr std::string_view no_grant = "-";

/// A lease as it is stored, in ms.
double bounded_lease(std::int64_t stored_ms) {
    return static_cast<double>(std::clamp(stored_ms, std::int64_t{1}, lease_hidden_ms));
}

}  // namespace

std::string LeaseLock::format(const WaitingLine& line) {
    auto text = std::string(record_version) + record_separator + line.grant;
    for (const auto& entry : line.entries) {
        for (const auto& field :
             {std::string(1, static_cast<char>(entry.kind)), entry.id, entry.tab,
              std::to_string(entry.heartbeat), std::to_string(entry.lease_ms)}) {
            (text += record_separator) += field;
        }
    }
    return text;
}

std::optional<LeaseLock::WaitingLine> LeaseLock::parse(std::string_view text) {
    const auto fields = fields_of(text, line_fields_max);
    if (fields.size() < fields_before || (fields.size() - fields_before) % fields_of_entry != 0 ||
        fields.size() > line_fields_max || fields[0] != record_version ||
        (fields[1] != no_grant && !is_identifier(fields[1]))) {
        return std::nullopt;
    }
    WaitingLine line{std::string(fields[1]), {}};
    for (std::size_t i = fields_before; i < fields.size(); i += fields_of_entry) {
        const auto heartbeat = parse_value(fields[i + 3]);
        const auto lease_ms = parse_value(fields[i + 4]);
        const bool known = fields[i] == "r" || fields[i] == "s" || fields[i] == "x";
        if (!known || !is_identifier(fields[i + 1]) || !is_identifier(fields[i + 2]) ||
            !heartbeat || *heartbeat < 0 || !lease_ms) {
            return std::nullopt;
        }
        line.entries.push_back({static_cast<LineEntry::Kind>(fields[i][0]),
                                std::string(fields[i + 1]), std::string(fields[i + 2]), *heartbeat,
                                *lease_ms});
    }
    return line;
}

/// A line that cannot be read is an empty one: nobody is let in by it.
Task<LeaseLock::WaitingLine> LeaseLock::read_line(Transaction& transaction) {
    const auto stored = co_await transaction.get(Store::locks, key_ + std::string(line_suffix));
    auto line = stored ? parse(stored->value) : std::nullopt;
    co_return line.value_or(WaitingLine{std::string(no_grant), {}});
}

void LeaseLock::put_line(Transaction& transaction, const WaitingLine& before,
                         const WaitingLine& line) {
    if (line == before) return;
    transaction.put(Store::locks, key_ + std::string(line_suffix), format(line));
}

std::int64_t LeaseLock::lease_ms() const {
    return context_.world.lifecycle().hidden() ? lease_hidden_ms : lease_visible_ms;
}

Task<std::shared_ptr<NativeHold>> LeaseLock::acquire(NativeRequest request) {
    if (!request.steal) cancelled_ = false;
    const auto id = identifier_of(context_.world.random().bits());
    if (!request.steal && !request.if_available) waiting_ = id;
    double pause_ms = poll_first_ms;
    if (!std::exchange(context_.swept, true)) co_await sweep_departures();
    if (!std::exchange(departures_read_, true)) (void)co_await read_departures();
    while (true) {
        Blockers blockers;
        auto hold = co_await try_now(request, id, blockers);
        remember(blockers);
        if (hold && request.mode == LockMode::exclusive) {
            co_await remove_departures(std::exchange(departures_, {}));
        }
        const bool news = !hold && co_await read_departures();
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

void LeaseLock::remember(const Blockers& blockers) {
    if (known_blockers_.size() > known_blockers_max) {
        std::erase_if(known_blockers_,
                      [&](const auto& blocker) { return !blockers.contains(blocker.first); });
    }
    for (const auto& [state, lease_ms] : blockers) {
        known_blockers_.try_emplace(
            state,
            lease_ms + aging_step_ms());  // the first slice has begun already
    }
    if (!blockers.empty() && !std::exchange(aging_, true)) context_.scope.spawn(age());
}

double LeaseLock::aging_step_ms() const {
    return context_.world.lifecycle().hidden() ? poll_hidden_ms : poll_last_ms;
}

/// By this tab's own timer, in slices: one that fires late counts no more.
Task<void> LeaseLock::age() {
    const auto young = [](const auto& blocker) { return blocker.second > 0; };
    while (!context_.closed && std::ranges::any_of(known_blockers_, young)) {
        const auto passed_ms = aging_step_ms();
        co_await context_.world.clock().sleep(passed_ms);
        bool ripe = false;
        for (auto& blocker : known_blockers_) {
            ripe |= young(blocker) && blocker.second <= passed_ms;
            blocker.second -= passed_ms;
        }
        if (ripe) wake_signal_.complete({});
    }
    aging_ = false;
}

bool LeaseLock::stale(const std::string& state) const {
    const auto blocker = known_blockers_.find(state);
    return blocker != known_blockers_.end() && blocker->second <= 0;
}

Task<LeaseLock::WaitingLine> LeaseLock::load_line() {
    constexpr Stores scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::read, Durability::relaxed);
    co_return co_await read_line(*transaction);
}

Task<OtherWaiters> LeaseLock::query_other_waiters(bool /*is_next*/) {
    auto line = co_await attempt(load_line());
    if (!line) co_return OtherWaiters::ahead_of_us;
    Blockers blockers;
    for (const auto& entry : line.value().entries) {
        const bool own = entry.tab == context_.epochs.tab();
        if (own || entry.kind == LineEntry::Kind::reads || dead(entry)) continue;
        blockers[state_of(entry.id, entry.heartbeat)] = bounded_lease(entry.lease_ms);
    }
    remember(blockers);
    co_return blockers.empty() ? OtherWaiters::none : OtherWaiters::ahead_of_us;
}

Task<void> LeaseLock::wait(double delay_ms) {
    const Completer<Unit> over;
    wake_signal_ = over;
    context_.scope.spawn(
        [](LockContext& context, Completer<Unit> signal, double pause_ms) -> Task<void> {
            co_await context.world.clock().sleep(pause_ms);
            signal.complete({});
        }(context_, over, delay_ms));
    co_await over.async();
}

/// Whether a waiter or a reader is gone: it announced its departure, or had no heartbeat for too
/// long.
bool LeaseLock::dead(const LineEntry& entry) const {
    return context_.gone.contains(entry.id) || stale(state_of(entry.id, entry.heartbeat));
}

bool LeaseLock::free(const std::optional<LockRow>& row, const WaitingLine& line) const {
    if (!row || row->heartbeat == 0 || stale(state_of(row->grant, row->heartbeat)) ||
        context_.gone.contains(row->grant)) {
        return true;
    }
    const auto reads = [](const auto& entry) { return entry.kind == LineEntry::Kind::reads; };
    return line.grant == row->grant && std::ranges::any_of(line.entries, reads) &&
           std::ranges::all_of(line.entries, [&](const auto& entry) {
               return !reads(entry) || context_.gone.contains(entry.id);
           });
}

/// Whether readers hold the epoch of the row, so that another may join them.
bool LeaseLock::is_read(const std::optional<LockRow>& row, const WaitingLine& line) const {
    return !free(row, line) && line.grant == row->grant &&
           std::ranges::any_of(line.entries, [](const auto& entry) {
               return entry.kind == LineEntry::Kind::reads;
           });
}

LeaseLock::Blockers LeaseLock::find_blockers(const std::optional<LockRow>& row,
                                             const WaitingLine& line, const NativeRequest& request,
                                             std::string_view id) const {
    Blockers blockers;
    if (request.steal) return blockers;
    const bool reads = request.mode == LockMode::shared;
    if (!free(row, line) && !(reads && is_read(row, line))) {
        blockers[state_of(row->grant, row->heartbeat)] = bounded_lease(row->lease_ms);
    }
    for (const auto& entry : line.entries) {
        if (entry.id == id) break;
        if (dead(entry)) continue;
        const bool before =
            reads ? entry.kind == LineEntry::Kind::waits : entry.kind != LineEntry::Kind::reads;
        if (before) blockers[state_of(entry.id, entry.heartbeat)] = bounded_lease(entry.lease_ms);
    }
    return blockers;
}

/// Tries to enter, in one transaction. Returns nothing if another tab holds the lock or is before;
/// `blockers` then has what was found.
Task<std::shared_ptr<NativeHold>> LeaseLock::try_now(NativeRequest request, std::string id,
                                                     Blockers& blockers) {
    constexpr Stores scope{Store::locks, Store::quarantine};
    auto hold = std::make_shared<NativeHold>();
    hold->mode = request.mode;
    bool others_may_read = false;
    {
        const auto transaction = co_await context_.epochs.transactions().begin(scope, Access::write,
                                                                               Durability::relaxed);
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
                put_line(*transaction, before, line);
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
        put_line(*transaction, before, line);
        co_await transaction->commit();
    }
    if (others_may_read) context_.post(LockMessage::Kind::released, key_);
    context_.scope.spawn(renew(hold));
    co_return hold;
}

/// A heartbeat's number is never used again: a waiter that was taken for dead, and is not, is a new
/// entry in the line from then on.
void LeaseLock::join_line(WaitingLine& line, const NativeRequest& request, const std::string& id) {
    const auto own = std::find_if(line.entries.begin(), line.entries.end(),
                                  [&](const auto& entry) { return entry.id == id; });
    const auto kind =
        request.mode == LockMode::shared ? LineEntry::Kind::waits_to_read : LineEntry::Kind::waits;
    if (own != line.entries.end()) {
        own->heartbeat = ++heartbeats_;
        own->lease_ms = lease_ms();
    } else if (line.entries.size() + 1 < entries_max) {
        line.entries.push_back({kind, id, context_.epochs.tab(), ++heartbeats_, lease_ms()});
    }
}

/// A reader that finds no room adds one without a name: there are more readers than are named, so
/// no reader is known to be the last, and the epoch runs out.
void LeaseLock::add_reader(WaitingLine& line, const std::string& id) const {
    const auto size = line.entries.size();
    if (size >= entries_max) return;
    line.entries.push_back(
        {LineEntry::Kind::reads,
         size + 1 < entries_max ? id : identifier_of(context_.world.random().bits()),
         context_.epochs.tab(), 0, lease_ms()});
}

/// Readers join the epoch that readers hold, and show that it lives; anybody else begins one.
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
    line.grant = request.mode == LockMode::shared ? tokens.grant : std::string(no_grant);
    co_return tokens;
}

Task<void> LeaseLock::leave_line(std::string id) {
    constexpr Stores scope{Store::locks};
    const auto left =
        co_await attempt([](LeaseLock& self, Stores stores, std::string own) -> Task<void> {
            const auto transaction = co_await self.context_.epochs.transactions().begin(
                stores, Access::write, Durability::relaxed);
            const auto before = co_await self.read_line(*transaction);
            auto line = before;
            std::erase_if(line.entries, [&](const auto& entry) { return entry.id == own; });
            self.put_line(*transaction, before, line);
            co_await transaction->commit();
        }(*this, scope, std::move(id)));
    if (left) context_.post(LockMessage::Kind::released, key_);
}

/// Renews the lease three times in its length; notifies the holder when the lease is another's.
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
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
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
        put_line(*transaction, before, line);
    }
    co_await transaction->commit();
}

void LeaseLock::on_possible_release() { wake_signal_.complete({}); }

void LockContext::note_gone(const std::vector<std::string>& ids) {
    if (gone.size() + ids.size() > gone_max) gone.clear();
    for (const auto& id : ids) {
        if (is_identifier(id)) gone.insert(id);
    }
}

/// Reads the departures that pages stored when they were left. Returns true if one of them is new.
/// A tab that begins an epoch removes them: the holders they name are gone.
Task<bool> LeaseLock::read_departures() {
    const auto prefix = context_.names.lock_departure(key_, "");
    auto keys = co_await attempt(context_.world.storage().keys(prefix));
    if (!keys) co_return false;
    departures_ = std::move(keys.value());
    if (departures_.size() > departures_max) departures_.resize(departures_max);
    bool news = false;
    for (const auto& key : departures_) {
        const auto id = key.substr(prefix.size());
        news |= is_identifier(id) && !context_.gone.contains(id);
        context_.note_gone({id});
    }
    co_return news;
}

Task<void> LeaseLock::remove_departures(std::vector<std::string> keys) {
    for (const auto& key : keys) {
        (void)co_await attempt(context_.world.storage().remove(key));
    }
}

/// Removes old departures of all locks: after the longest lease they are no longer needed.
Task<void> LeaseLock::sweep_departures() {
    auto& storage = context_.world.storage();
    const auto now_ms = context_.world.clock().now_ms();
    auto keys = co_await attempt(storage.keys(context_.names.lock_departures()));
    if (!keys) co_return;
    std::vector<std::string> old;
    for (const auto& key : keys.value()) {
        auto text = co_await attempt(storage.get(key));
        const auto left_ms = text && text.value() ? parse_value(*text.value()) : std::nullopt;
        const bool recent = left_ms && std::abs(now_ms - static_cast<double>(*left_ms)) <
                                           static_cast<double>(lease_hidden_ms);
        if (!recent) old.push_back(key);
    }
    co_await remove_departures(std::move(old));
}

/// Stores the departure: the page may be gone before it writes the row, and a tab that is opened
/// later has received no message.
Task<void> LeaseLock::store_departure(std::string id) {
    const auto now_ms = std::clamp(context_.world.clock().now_ms(), 0.0, 0x1p52);
    (void)co_await attempt(
        context_.world.storage().set(context_.names.lock_departure(key_, id),
                                     format_decimal(static_cast<std::int64_t>(now_ms))));
}

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

/// Notes the departure in this tab, too: the tab may be asleep before it reads the row again, and
/// it does not receive its own messages.
void LeaseLock::announce_departure(const std::string& id) {
    context_.note_gone({id});
    context_.post(LockMessage::Kind::released, key_, {id});
    if (context_.suspended) context_.scope.spawn(store_departure(id));
}

Task<void> LeaseLock::give_back(std::shared_ptr<NativeHold> hold) {
    // If this fails, the lease expires by itself, or it already belongs to another tab.
    if (co_await attempt(end_lease(std::move(hold)))) {
        context_.post(LockMessage::Kind::released, key_);
    }
}

/// The last of the readers ends their epoch, if it is known to be the last.
Task<void> LeaseLock::end_lease(std::shared_ptr<NativeHold> hold) {
    constexpr Stores scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, hold->tokens);
    const auto before = co_await read_line(*transaction);
    auto line = before;
    const bool shared = !hold->reader.empty();
    const auto named =
        std::erase_if(line.entries, [&](const auto& entry) { return entry.id == hold->reader; });
    if (shared && (named == 0 || line.grant != row.grant)) co_return;  // else it runs out
    const auto other =
        std::find_if(line.entries.begin(), line.entries.end(),
                     [](const auto& entry) { return entry.kind == LineEntry::Kind::reads; });
    if (shared && other != line.entries.end()) {
        row.tab = other->tab;
    } else {
        row.heartbeat = 0;
    }
    transaction->put(Store::locks, key_, format_lock_row(row));
    put_line(*transaction, before, line);
    co_await transaction->commit();
}

}  // namespace tabacus
