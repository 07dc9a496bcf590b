#include "epochs.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "protocol/common/record.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus {
namespace {

/// A transaction that aborted for a passing reason (a dropped connection) is tried again.
constexpr int raise_attempts_max = 4;

bool passing(const Error& error) {
    return error.code() == ErrorCode::store_failed || error.code() == ErrorCode::unknown_commit;
}

Error exhausted() { return {ErrorCode::store_failed, "the tokens of this lock are exhausted"}; }

/// Whether a line (waiting_line.hpp) has more than its version and its grant.
bool is_line_of_some(std::string_view text) {
    return std::count(text.begin(), text.end(), record_separator) > 1;
}

}  // namespace

LockEpochs::LockEpochs(World& world, const Names& names, std::string tab, NoticeHandler on_notice,
                       Scope& scope)
    : world_(world),
      names_(names),
      tab_(std::move(tab)),
      on_notice_(std::move(on_notice)),
      sweeper_(world, names, transactions_, scope),
      reads_(scope, Access::read,
             [this] { return begin({Store::locks}, Access::read, Durability::relaxed); }),
      tokens_(scope, Access::write, [this] {
          return begin({Store::locks, Store::quarantine}, Access::write, Durability::relaxed);
      }) {}

Async<std::unique_ptr<Transaction>> LockEpochs::begin(Stores scope, Access access,
                                                      Durability durability) {
    return world_.database().begin(scope, access, durability, &transactions_);
}

void LockEpochs::forget(const std::string& key) {
    const auto seen = seen_.extract(key);
    if (!seen.empty()) forgotten_ = std::max(forgotten_, seen.mapped());
}

Task<LockTokens> LockEpochs::raise(const std::string& key, LockClaim claim,
                                   Function<bool()> wanted) {
    if (!fenced()) {
        auto& last = seen_[key];
        last = std::max(last, forgotten_);
        const LockTokens tokens{.grant = identifier_of(world_.random().bits()),
                                .born = "",
                                .first = last + 1,
                                .next = last + 1,
                                .last = last + claim.tokens};
        last = tokens.last;
        co_return tokens;
    }
    for (int tried = 1;; ++tried) {
        auto raised = co_await attempt(raise_once(key, claim, wanted));
        if (raised) co_return std::move(raised.value());
        // A commit with an unknown outcome has at worst wasted tokens, so it may be repeated.
        const Error error = raised.error();
        if (!passing(error) || tried == raise_attempts_max) co_await fail(error);
    }
}

Task<LockTokens> LockEpochs::raise_once(const std::string& key, LockClaim claim,
                                        Function<bool()> wanted) {
    LockTokens tokens;
    co_await tokens_.run(key, [&](Transaction& transaction) -> Task<void> {
        const auto row = co_await read_in(transaction, key);
        if (wanted && !wanted()) {
            co_await fail(ErrorCode::lock_lost, "the lock was lost before it was granted");
        }
        const bool contended = has_newer(key, row);
        tokens = co_await begin_epoch(transaction, key, row, claim);
        tokens.contended = contended;
        co_await sweeper_.sweep_if_due(transaction);
    });
    co_await save_backup(tokens.last);
    co_return tokens;
}

Task<LockTokens> LockEpochs::raise_in(Transaction& transaction, const std::string& key,
                                      LockClaim claim) {
    const auto row = co_await read_in(transaction, key);
    co_return co_await begin_epoch(transaction, key, row, std::move(claim));
}

Task<LockTokens> LockEpochs::reserve(const std::string& key, LockClaim claim,
                                     std::shared_ptr<const bool> granted) {
    LockTokens tokens;
    co_await tokens_.run(key, [&](Transaction& transaction) -> Task<void> {
        tokens = co_await reserve_in(transaction, key, claim, granted);
        co_await sweeper_.sweep_if_due(transaction);
    });
    co_await save_backup(tokens.last);
    co_return tokens;
}

Task<LockTokens> LockEpochs::reserve_in(Transaction& transaction, const std::string& key,
                                        LockClaim claim, std::shared_ptr<const bool> granted) {
    auto row = co_await read_in(transaction, key);
    const bool contended = has_newer(key, row);
    if (!row || *granted) {
        auto begun = co_await begin_epoch(transaction, key, row, std::move(claim));
        begun.contended = contended;
        co_return begun;
    }
    const auto base = co_await newest(key, row, claim.tokens);
    const LockTokens tokens{.grant = identifier_of(world_.random().bits()),
                            .born = row->born,
                            .first = base + 1,
                            .next = base + 1,
                            .last = base + claim.tokens,
                            .claim = claim,
                            .contended = contended};
    seen_[key] = row->last = tokens.last;
    // Waiting tabs must know how long the next holder may hold, even if that holder hangs at once.
    if (claim.max_hold_ms > 0) {
        row->max_hold_ms = row->max_hold_ms > 0 ? std::min(row->max_hold_ms, claim.max_hold_ms)
                                                : claim.max_hold_ms;
    }
    transaction.put(Store::locks, key, format_lock_row(*row));
    co_return tokens;
}

/// Whether another tab has reserved tokens after this tab's last ones. Of a lock that this tab has
/// forgotten, or has not used yet, the row names the tab that had it last.
bool LockEpochs::has_newer(const std::string& key, const std::optional<LockRow>& row) const {
    if (!row) return false;
    const auto seen = seen_.find(key);
    return seen == seen_.end() ? row->tab != tab_ : row->last > seen->second;
}

/// Returns the newest token. Fails if fewer than `count` are left after it.
Task<std::int64_t> LockEpochs::newest(const std::string& key, const std::optional<LockRow>& row,
                                      std::int64_t count) {
    auto base = seen_[key];
    if (row) {
        base = std::max(base, row->last);
    } else {
        base = std::max(base, co_await floor());
    }
    if (base > token_max - count) co_await fail(exhausted());
    co_return base;
}

Task<LockTokens> LockEpochs::begin_epoch(Transaction& transaction, const std::string& key,
                                         const std::optional<LockRow>& row, LockClaim claim) {
    const auto base = co_await newest(key, row, claim.tokens);
    LockTokens tokens{identifier_of(world_.random().bits()),
                      row ? row->born : identifier_of(world_.random().bits()),
                      base + 1,
                      base + 1,
                      base + claim.tokens,
                      claim,
                      true};
    transaction.put(Store::locks, key, format_lock_row(row_of(tokens)));
    seen_[key] = tokens.last;
    co_return tokens;
}

LockRow LockEpochs::row_of(const LockTokens& tokens) const {
    const auto now_ms = static_cast<std::int64_t>(std::max(world_.clock().now_ms(), 0.0));
    const auto& claim = tokens.claim;
    return {tokens.last,       tokens.first,   tokens.born,
            tokens.grant,      tab_,           now_ms,
            claim.max_hold_ms, claim.lease_ms, claim.lease_ms > 0 ? 1 : 0,
            claim.label};
}

Task<void> LockEpochs::extend(const std::string& key, LockTokens& tokens, std::int64_t count) {
    if (!fenced()) {
        tokens.next = seen_[key] + 1;
        tokens.last = seen_[key] += count;
        co_return;
    }
    constexpr Stores scope{Store::locks};
    std::int64_t last = 0;
    {
        const auto transaction = co_await begin(scope, Access::write, Durability::relaxed);
        auto row = co_await check(*transaction, key, tokens);
        if (row.last > token_max - count) co_await fail(exhausted());
        if (row.last != tokens.last) {
            co_await fail(ErrorCode::unavailable, "tokens are reserved for the next holder");
        }
        tokens.next = std::max(row.last, seen_[key]) + 1;
        last = row.last = tokens.next + count - 1;
        transaction->put(Store::locks, key, format_lock_row(row));
        co_await transaction->commit();
    }
    tokens.last = seen_[key] = last;
    co_await save_backup(last);
}

Task<std::optional<LockRow>> LockEpochs::read(const std::string& key) {
    if (!fenced()) co_return std::nullopt;
    std::optional<Row> row;
    co_await reads_.run(key, [&](Transaction& transaction) -> Task<void> {
        row = co_await transaction.get(Store::locks, key);
    });
    co_return row ? parse_lock_row(row->value) : std::nullopt;
}

Task<std::vector<std::string>> LockEpochs::leased() {
    constexpr Stores scope{Store::locks};
    const auto transaction = co_await begin(scope, Access::read, Durability::relaxed);
    std::set<std::string> names;
    for (const auto& stored : co_await transaction->list(Store::locks, "")) {
        // Leaders and other users of locks keep their rows beside the lock's, under "<name>/…".
        auto key = std::string_view(stored.key);
        const bool line = key.ends_with(line_suffix) && is_line_of_some(stored.value);
        if (line) key.remove_suffix(line_suffix.size());
        auto name = unescaped(key);
        const auto row = name && !line ? parse_lock_row(stored.value) : std::nullopt;
        if (name && (line || (row && row->heartbeat > 0))) names.insert(std::move(*name));
    }
    co_return std::vector<std::string>(names.begin(), names.end());
}

Task<bool> LockEpochs::lined_up(const std::string& key) {
    if (!fenced()) co_return false;
    constexpr Stores scope{Store::locks};
    const auto transaction = co_await begin(scope, Access::read, Durability::relaxed);
    const auto stored = co_await transaction->get(Store::locks, key + std::string(line_suffix));
    co_return stored&& is_line_of_some(stored->value);
}

Task<LockRow> LockEpochs::check(Transaction& transaction, const std::string& key,
                                LockTokens& tokens) {
    const auto stored = co_await transaction.get(Store::locks, key);
    auto row = stored ? parse_lock_row(stored->value) : std::nullopt;
    const bool newer = row && row->fence == tokens.first && row->grant != tokens.grant;
    // A row without the tokens that were reserved in it is another row, too.
    if (!row || row->born != tokens.born || row->last < tokens.last || row->fence > tokens.first ||
        newer) {
        co_await fail(ErrorCode::fenced,
                      "the lock was granted to another caller; nothing was kept");
    }
    if (row->fence < tokens.first) {
        const auto last = row->last;
        row = row_of(tokens);
        row->last = last;
        transaction.put(Store::locks, key, format_lock_row(*row));
    }
    tokens.recorded = true;
    co_return *row;
}

Task<void> LockEpochs::record(const std::string& key, LockTokens& tokens) {
    co_await tokens_.run(key, [&](Transaction& transaction) -> Task<void> {
        (void)co_await check(transaction, key, tokens);
    });
}

/// Reads the lock's row. A row that cannot be read is put into quarantine, and counts as vanished.
Task<std::optional<LockRow>> LockEpochs::read_in(Transaction& transaction, const std::string& key) {
    const auto stored = co_await transaction.get(Store::locks, key);
    if (!stored) co_return std::nullopt;
    auto row = parse_lock_row(stored->value);
    if (!row) {
        transaction.put(Store::quarantine, "locks/" + key,
                        stored->value.empty() ? "?" : stored->value);
        on_notice_({Notice::Kind::warning, "corrupt-record",
                    "A record that cannot be read was set aside; all others count.", "locks " + key,
                    "", 0});
    }
    co_return row;
}

/// Returns a number that is at least as large as every token of a row that vanished.
Task<std::int64_t> LockEpochs::floor() {
    constexpr auto clock_max = static_cast<double>(std::int64_t{token_max / 2});
    const auto base =
        static_cast<std::int64_t>(std::clamp(world_.clock().now_ms() * 1000.0, 0.0, clock_max));
    co_return std::max({base, forgotten_, co_await backup()});
}

/// Returns the largest token that the backup has; 0 if there is none, and then only the clock keeps
/// tokens rising. Fails with version_mismatch if a newer version wrote the backup.
Task<std::int64_t> LockEpochs::backup() {
    if (!world_.storage().available()) co_return 0;
    auto text = co_await attempt(world_.storage().get(names_.lock_tokens()));
    const auto last = text && text.value() ? parse_value(*text.value()) : std::nullopt;
    if (!last && text && text.value() && is_newer(*text.value())) {
        co_await fail(newer_record(names_.lock_tokens()));
    }
    co_return last.value_or(0);
}

/// Saves the largest token of all locks under one key. A key for each lock would fill localStorage,
/// which is small and belongs to the application.
Task<void> LockEpochs::save_backup(std::int64_t last) {
    if (!world_.storage().available()) co_return;
    auto saved = co_await attempt(backup());
    if (!saved || saved.value() >= last) co_return;
    (void)co_await attempt(world_.storage().set(names_.lock_tokens(), format_decimal(last)));
}

}  // namespace tabacus
