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
/// A release is told on the channel; this is for one that was not heard.
constexpr double look_first_ms = 20;
constexpr double look_last_ms = 500;
/// Timers of a hidden tab go off once a second.
constexpr double look_hidden_ms = 1'000;

/// What must not change for a lease to have run out.
std::string state_of(std::string_view identifier, std::int64_t beat) {
    return std::string(identifier) + "/" + std::to_string(beat);
}

/// More than are gone while somebody waits.
constexpr std::size_t gone_max = 1'024;
/// What is looked at of what pages have left word of.
constexpr std::size_t words_max = 512;
constexpr std::size_t sights_max = 64;
/// How many fields an entry of the line has, and where the first begins.
constexpr std::size_t fields_of_entry = 5;
constexpr std::size_t fields_before = 2;
/// More than any line has. The last place is for a reader without a name (add_reader).
constexpr std::size_t entries_max = 1'024;
constexpr std::size_t line_fields_max = fields_before + entries_max * fields_of_entry;
/// A line of nobody's epoch.
constexpr std::string_view no_grant = "-";

/// A lease as it is stored, in ms.
double bounded_lease(std::int64_t stored_ms) {
    return static_cast<double>(std::clamp(stored_ms, std::int64_t{1}, lease_hidden_ms));
}

}  // namespace

std::string LeaseTurnstile::format(const Line& line) {
    auto text = std::string(record_version) + record_separator + line.grant;
    for (const auto& entry : line.entries) {
        for (const auto& field :
             {std::string(1, static_cast<char>(entry.kind)), entry.id, entry.tab,
              std::to_string(entry.beat), std::to_string(entry.lease_ms)}) {
            (text += record_separator) += field;
        }
    }
    return text;
}

std::optional<LeaseTurnstile::Line> LeaseTurnstile::parse(std::string_view text) {
    const auto fields = fields_of(text, line_fields_max);
    if (fields.size() < fields_before || (fields.size() - fields_before) % fields_of_entry != 0 ||
        fields.size() > line_fields_max || fields[0] != record_version ||
        (fields[1] != no_grant && !is_identifier(fields[1]))) {
        return std::nullopt;
    }
    Line line{std::string(fields[1]), {}};
    for (std::size_t i = fields_before; i < fields.size(); i += fields_of_entry) {
        const auto beat = parse_value(fields[i + 3]);
        const auto lease_ms = parse_value(fields[i + 4]);
        const bool known = fields[i] == "r" || fields[i] == "s" || fields[i] == "x";
        if (!known || !is_identifier(fields[i + 1]) || !is_identifier(fields[i + 2]) || !beat ||
            *beat < 0 || !lease_ms) {
            return std::nullopt;
        }
        line.entries.push_back({static_cast<Entry::Kind>(fields[i][0]), std::string(fields[i + 1]),
                                std::string(fields[i + 2]), *beat, *lease_ms});
    }
    return line;
}

/// A line that cannot be read is an empty one: nobody is let in by it.
Task<LeaseTurnstile::Line> LeaseTurnstile::read_line(Transaction& transaction) {
    const auto stored = co_await transaction.get(Store::locks, key_ + std::string(line_suffix));
    auto line = stored ? parse(stored->value) : std::nullopt;
    co_return line.value_or(Line{std::string(no_grant), {}});
}

void LeaseTurnstile::put_line(Transaction& transaction, const Line& before, const Line& line) {
    if (line == before) return;
    transaction.put(Store::locks, key_ + std::string(line_suffix), format(line));
}

std::int64_t LeaseTurnstile::lease_ms() const {
    return context_.world.lifecycle().hidden() ? lease_hidden_ms : lease_visible_ms;
}

Task<std::shared_ptr<Possession>> LeaseTurnstile::take(Wish wish) {
    if (!wish.steal) cancelled_ = false;
    const auto id = identifier_of(context_.world.random().bits());
    if (!wish.steal && !wish.if_available) waiting_ = id;
    double pause_ms = look_first_ms;
    if (!std::exchange(context_.swept, true)) co_await sweep_words();
    if (!std::exchange(listened_, true)) (void)co_await hear_words();
    while (true) {
        Seen seen;
        auto possession = co_await try_now(wish, id, seen);
        remember(seen);
        if (possession && wish.mode == LockMode::exclusive) {
            co_await remove_words(std::exchange(words_, {}));
        }
        const bool news = !possession && co_await hear_words();
        if (news && !cancelled_) continue;
        if (possession || wish.if_available) {
            if (waiting_ == id) waiting_.clear();
            co_return possession;
        }
        if (!cancelled_) {
            waits_ = true;
            co_await wait(pause_ms);
            waits_ = false;
            pause_ms = std::min(pause_ms * 2, look_last_ms);
        }
        if (!cancelled_) continue;
        if (waiting_ == id) waiting_.clear();
        context_.scope.spawn(leave_line(id));
        co_return nullptr;
    }
}

void LeaseTurnstile::remember(const Seen& seen) {
    if (sights_.size() > sights_max) {
        std::erase_if(sights_, [&](const auto& sight) { return !seen.contains(sight.first); });
    }
    for (const auto& [state, lease_ms] : seen) {
        sights_.try_emplace(state,
                            lease_ms + look_slice_ms());  // the first slice has begun already
    }
    if (!seen.empty() && !std::exchange(aging_, true)) context_.scope.spawn(age());
}

double LeaseTurnstile::look_slice_ms() const {
    return context_.world.lifecycle().hidden() ? look_hidden_ms : look_last_ms;
}

/// By this tab's own timer, in slices: one that fires late counts no more.
Task<void> LeaseTurnstile::age() {
    const auto young = [](const auto& sight) { return sight.second > 0; };
    while (!context_.closed && std::ranges::any_of(sights_, young)) {
        const auto passed_ms = look_slice_ms();
        co_await context_.world.clock().sleep(passed_ms);
        bool ripe = false;
        for (auto& sight : sights_) {
            ripe |= young(sight) && sight.second <= passed_ms;
            sight.second -= passed_ms;
        }
        if (ripe) bell_.complete({});
    }
    aging_ = false;
}

bool LeaseTurnstile::stale(const std::string& state) const {
    const auto sight = sights_.find(state);
    return sight != sights_.end() && sight->second <= 0;
}

Task<LeaseTurnstile::Line> LeaseTurnstile::look_at_line() {
    const std::vector scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::read, Durability::relaxed);
    co_return co_await read_line(*transaction);
}

Task<Waiting> LeaseTurnstile::who_waits(bool /*is_next*/) {
    auto line = co_await attempt(look_at_line());
    if (!line) co_return Waiting::before;
    Seen seen;
    for (const auto& entry : line.value().entries) {
        const bool own = entry.tab == context_.epochs.tab();
        if (own || entry.kind == Entry::Kind::reads || dead(entry)) continue;
        seen[state_of(entry.id, entry.beat)] = bounded_lease(entry.lease_ms);
    }
    remember(seen);
    co_return seen.empty() ? Waiting::nobody : Waiting::before;
}

Task<void> LeaseTurnstile::wait(double delay_ms) {
    const Completer<Unit> bell;
    bell_ = bell;
    context_.scope.spawn(
        [](LockContext& context, Completer<Unit> ring, double pause_ms) -> Task<void> {
            co_await context.world.clock().sleep(pause_ms);
            ring.complete({});
        }(context_, bell, delay_ms));
    co_await bell.async();
}

/// Of who waits, or reads: it said so, or did not stir for too long.
bool LeaseTurnstile::dead(const Entry& entry) const {
    return context_.gone.contains(entry.id) || stale(state_of(entry.id, entry.beat));
}

bool LeaseTurnstile::free(const std::optional<LockRow>& row, const Line& line) const {
    if (!row || row->beat == 0 || stale(state_of(row->grant, row->beat)) ||
        context_.gone.contains(row->grant)) {
        return true;
    }
    const auto reads = [](const auto& entry) { return entry.kind == Entry::Kind::reads; };
    return line.grant == row->grant && std::ranges::any_of(line.entries, reads) &&
           std::ranges::all_of(line.entries, [&](const auto& entry) {
               return !reads(entry) || context_.gone.contains(entry.id);
           });
}

/// Whether readers hold the epoch of the row, so that another may join them.
bool LeaseTurnstile::is_read(const std::optional<LockRow>& row, const Line& line) const {
    return !free(row, line) && line.grant == row->grant &&
           std::ranges::any_of(line.entries,
                               [](const auto& entry) { return entry.kind == Entry::Kind::reads; });
}

LeaseTurnstile::Seen LeaseTurnstile::blockers(const std::optional<LockRow>& row, const Line& line,
                                              const Wish& wish, std::string_view id) const {
    Seen seen;
    if (wish.steal) return seen;
    const bool reads = wish.mode == LockMode::shared;
    if (!free(row, line) && !(reads && is_read(row, line))) {
        seen[state_of(row->grant, row->beat)] = bounded_lease(row->lease_ms);
    }
    for (const auto& entry : line.entries) {
        if (entry.id == id) break;
        if (dead(entry)) continue;
        const bool before =
            reads ? entry.kind == Entry::Kind::waits : entry.kind != Entry::Kind::reads;
        if (before) seen[state_of(entry.id, entry.beat)] = bounded_lease(entry.lease_ms);
    }
    return seen;
}

/// One transaction. Nothing when another holds it, or is before; `seen` then says what was found.
Task<std::shared_ptr<Possession>> LeaseTurnstile::try_now(Wish wish, std::string id, Seen& seen) {
    const std::vector scope{Store::locks, Store::aside};
    auto possession = std::make_shared<Possession>();
    possession->mode = wish.mode;
    bool others_may_read = false;
    {
        const auto transaction = co_await context_.epochs.transactions().begin(scope, Access::write,
                                                                               Durability::relaxed);
        const auto row = co_await context_.epochs.read_in(*transaction, key_);
        const auto before = co_await read_line(*transaction);
        auto line = before;
        std::erase_if(line.entries, [&](const auto& entry) {
            return entry.kind != Entry::Kind::reads && dead(entry);
        });
        seen = blockers(row, line, wish, id);
        if (!seen.empty()) {
            if (!wish.if_available) {
                stand_in_line(line, wish, id);
                put_line(*transaction, before, line);
                co_await transaction->commit();
            }
            co_return nullptr;
        }
        std::erase_if(line.entries, [&](const auto& entry) { return entry.id == id; });
        possession->tokens = co_await enter(*transaction, row, line, wish);
        if (wish.mode == LockMode::shared) {
            const auto& reader = possession->reader = identifier_of(context_.world.random().bits());
            add_reader(line, reader);
            others_may_read = line.entries.front().kind == Entry::Kind::waits_to_read;
        }
        put_line(*transaction, before, line);
        co_await transaction->commit();
    }
    if (others_may_read) context_.post(LockMessage::Kind::released, key_);
    context_.scope.spawn(renew(possession));
    co_return possession;
}

/// No beat comes again: who was taken for dead, and is not, is another in the line from then on.
void LeaseTurnstile::stand_in_line(Line& line, const Wish& wish, const std::string& id) {
    const auto own = std::find_if(line.entries.begin(), line.entries.end(),
                                  [&](const auto& entry) { return entry.id == id; });
    const auto kind =
        wish.mode == LockMode::shared ? Entry::Kind::waits_to_read : Entry::Kind::waits;
    if (own != line.entries.end()) {
        own->beat = ++beats_;
        own->lease_ms = lease_ms();
    } else if (line.entries.size() + 1 < entries_max) {
        line.entries.push_back({kind, id, context_.epochs.tab(), ++beats_, lease_ms()});
    }
}

/// Who finds no place leaves word that there are more than are named: then nobody is known to be
/// the last, and the epoch runs out.
void LeaseTurnstile::add_reader(Line& line, const std::string& id) const {
    const auto size = line.entries.size();
    if (size >= entries_max) return;
    line.entries.push_back(
        {Entry::Kind::reads,
         size + 1 < entries_max ? id : identifier_of(context_.world.random().bits()),
         context_.epochs.tab(), 0, lease_ms()});
}

/// Readers join the epoch that readers hold, and show that it lives; anybody else begins one.
Task<LockTokens> LeaseTurnstile::enter(Transaction& transaction, const std::optional<LockRow>& row,
                                       Line& line, Wish wish) {
    auto claim = wish.claim;
    claim.lease_ms = lease_ms();
    if (wish.mode == LockMode::shared && is_read(row, line)) {
        auto joined = *row;
        ++joined.beat;
        joined.lease_ms = std::max(joined.lease_ms, claim.lease_ms);
        transaction.put(Store::locks, key_, format_lock_row(joined));
        co_return LockTokens{row->grant, row->born, row->fence, row->fence, row->last, claim, true};
    }
    auto tokens = co_await context_.epochs.raise_in(transaction, key_, claim);
    std::erase_if(line.entries, [](const auto& entry) { return entry.kind == Entry::Kind::reads; });
    line.grant = wish.mode == LockMode::shared ? tokens.grant : std::string(no_grant);
    co_return tokens;
}

Task<void> LeaseTurnstile::leave_line(std::string id) {
    const std::vector scope{Store::locks};
    const auto left = co_await attempt(
        [](LeaseTurnstile& self, std::vector<Store> stores, std::string own) -> Task<void> {
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

/// Tells the holder when the lease is another's; renews it three times in its length.
Task<void> LeaseTurnstile::renew(std::weak_ptr<Possession> weak) {
    while (true) {
        co_await context_.world.clock().sleep(static_cast<double>(lease_visible_ms) / 3);
        const auto possession = weak.lock();
        if (!possession || possession->lost) co_return;
        const auto renewed = co_await attempt(renew_once(possession));
        if (renewed || renewed.error().code() != ErrorCode::fenced) continue;
        if (possession->on_lost) possession->on_lost("fenced");
        co_return;
    }
}

Task<void> LeaseTurnstile::renew_once(std::shared_ptr<Possession> possession) {
    const std::vector scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, possession->tokens);
    ++row.beat;
    // Of those that share, the one whose timers are slowest counts.
    const bool shared = !possession->reader.empty();
    row.lease_ms = shared ? std::max(row.lease_ms, lease_ms()) : lease_ms();
    transaction->put(Store::locks, key_, format_lock_row(row));
    if (shared) {
        const auto before = co_await read_line(*transaction);
        auto line = before;
        const auto& id = possession->reader;
        std::erase_if(line.entries, [&](const auto& entry) {
            return entry.id == id || (entry.kind == Entry::Kind::reads && line.grant != row.grant);
        });
        // Of a line that was lost nobody knows who else reads: one without a name.
        if (std::exchange(line.grant, row.grant) != row.grant) {
            add_reader(line, identifier_of(context_.world.random().bits()));
        }
        add_reader(line, id);
        put_line(*transaction, before, line);
    }
    co_await transaction->commit();
}

void LeaseTurnstile::nudge() { bell_.complete({}); }

void LockContext::note_gone(const std::vector<std::string>& ids) {
    if (gone.size() + ids.size() > gone_max) gone.clear();
    for (const auto& id : ids) {
        if (is_identifier(id)) gone.insert(id);
    }
}

/// What was left by pages that have gone away. True if there is news in it. Who begins an epoch
/// removes it: whoever it spoke of is no more.
Task<bool> LeaseTurnstile::hear_words() {
    const auto prefix = context_.names.lock_word(key_, "");
    auto keys = co_await attempt(context_.world.storage().keys(prefix));
    if (!keys) co_return false;
    words_ = std::move(keys.value());
    if (words_.size() > words_max) words_.resize(words_max);
    bool news = false;
    for (const auto& word : words_) {
        const auto id = word.substr(prefix.size());
        news |= is_identifier(id) && !context_.gone.contains(id);
        context_.note_gone({id});
    }
    co_return news;
}

Task<void> LeaseTurnstile::remove_words(std::vector<std::string> words) {
    for (const auto& word : words) {
        (void)co_await attempt(context_.world.storage().remove(word));
    }
}

/// Of any lock: after the longest lease a word says nothing that is not known.
Task<void> LeaseTurnstile::sweep_words() {
    auto& storage = context_.world.storage();
    const auto now_ms = context_.world.clock().now_ms();
    auto keys = co_await attempt(storage.keys(context_.names.lock_words()));
    if (!keys) co_return;
    std::vector<std::string> old;
    for (const auto& key : keys.value()) {
        auto text = co_await attempt(storage.get(key));
        const auto left_ms = text && text.value() ? parse_value(*text.value()) : std::nullopt;
        const bool recent = left_ms && std::abs(now_ms - static_cast<double>(*left_ms)) <
                                           static_cast<double>(lease_hidden_ms);
        if (!recent) old.push_back(key);
    }
    co_await remove_words(std::move(old));
}

/// The page may not get to the row, and who comes after it has heard nothing.
Task<void> LeaseTurnstile::leave_word(std::string id) {
    const auto now_ms = std::clamp(context_.world.clock().now_ms(), 0.0, 0x1p52);
    (void)co_await attempt(context_.world.storage().set(
        context_.names.lock_word(key_, id), format_decimal(static_cast<std::int64_t>(now_ms))));
}

void LeaseTurnstile::cancel() {
    cancelled_ = true;
    if (!waiting_.empty()) tell_gone(waiting_);
    bell_.complete({});
}

void LeaseTurnstile::let_go(const std::shared_ptr<Possession>& possession) {
    const auto& reader = possession->reader;
    tell_gone(reader.empty() ? possession->tokens.grant : reader);
    context_.scope.spawn(give_back(possession));
}

/// This tab, too: it may be asleep before a transaction tells it so, and hears no word of its own.
void LeaseTurnstile::tell_gone(const std::string& id) {
    context_.note_gone({id});
    context_.post(LockMessage::Kind::released, key_, {id});
    if (context_.asleep) context_.scope.spawn(leave_word(id));
}

Task<void> LeaseTurnstile::give_back(std::shared_ptr<Possession> possession) {
    // Else it runs out, or is another's.
    if (co_await attempt(end_lease(std::move(possession)))) {
        context_.post(LockMessage::Kind::released, key_);
    }
}

/// The last of the readers ends their epoch, if it is known to be the last.
Task<void> LeaseTurnstile::end_lease(std::shared_ptr<Possession> possession) {
    const std::vector scope{Store::locks};
    const auto transaction =
        co_await context_.epochs.transactions().begin(scope, Access::write, Durability::relaxed);
    auto row = co_await context_.epochs.check(*transaction, key_, possession->tokens);
    const auto before = co_await read_line(*transaction);
    auto line = before;
    const bool shared = !possession->reader.empty();
    const auto named = std::erase_if(
        line.entries, [&](const auto& entry) { return entry.id == possession->reader; });
    if (shared && (named == 0 || line.grant != row.grant)) co_return;  // else it runs out
    const auto other =
        std::find_if(line.entries.begin(), line.entries.end(),
                     [](const auto& entry) { return entry.kind == Entry::Kind::reads; });
    if (shared && other != line.entries.end()) {
        row.tab = other->tab;
    } else {
        row.beat = 0;
    }
    transaction->put(Store::locks, key_, format_lock_row(row));
    put_line(*transaction, before, line);
    co_await transaction->commit();
}

}  // namespace tabacus
