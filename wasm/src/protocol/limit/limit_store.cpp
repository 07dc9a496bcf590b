#include "limit_store.hpp"

#include <algorithm>

#include "protocol/common/concat.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/store_loss_detector.hpp"

namespace tabacus {
namespace {

/// A transaction over rows in this page's memory. Transactions do not overlap: each runs without a
/// break from its beginning to its commit, because everything that it awaits is ready.
class MemoryTransaction final : public Transaction {
  public:
    explicit MemoryTransaction(std::map<std::string, std::string>& rows) : rows_(rows) {}

    Async<std::optional<Row>> get(Store /*store*/, std::string_view key) override {
        const auto found = rows_.find(std::string(key));
        if (found == rows_.end()) return std::optional<Row>();
        return std::optional(Row{found->first, found->second, false});
    }
    Async<std::vector<Row>> list(Store /*store*/, std::string_view prefix, std::uint32_t limit,
                                 std::string_view from) override {
        std::vector<Row> found;
        for (const auto& [key, value] : rows_) {
            if (found.size() < limit && key.starts_with(prefix) && key >= from)
                found.push_back({key, value, false});
        }
        return found;
    }
    void put(Store store, std::string_view key, std::string_view value) override {
        if (store == Store::limits) writes_[std::string(key)] = value;
    }
    void remove(Store /*store*/, std::string_view key) override {
        writes_[std::string(key)] = std::nullopt;
    }
    void remove_range(Store store, std::string_view first, std::string_view last) override {
        for (auto row = rows_.lower_bound(std::string(first)); row != rows_.end(); ++row) {
            if (row->first > last) break;
            remove(store, row->first);
        }
    }
    Async<std::optional<std::string>> holder(std::string_view /*subject*/) override {
        return std::optional<std::string>();
    }
    void claim(std::string_view /*subject*/, std::string_view /*holder*/) override {}
    void release(std::string_view /*holder*/) override {}
    void abort() override { writes_.clear(); }
    Async<Unit> commit() override {
        for (const auto& [key, value] : writes_) {
            if (value) {
                rows_[key] = *value;
            } else {
                rows_.erase(key);
            }
        }
        return Unit{};
    }

  private:
    std::map<std::string, std::string>& rows_;
    std::map<std::string, std::optional<std::string>> writes_;
};

}  // namespace

Task<std::unique_ptr<Transaction>> LimitStore::begin(Access access) {
    if (closed_) co_await fail(ErrorCode::closed, "the tab is closed");
    if (cut_off_) co_await fail(cut_off_error());
    if (!durable()) co_return std::make_unique<MemoryTransaction>(memory_);
    constexpr Stores scope{Store::limits, Store::quarantine};
    auto transaction = co_await transactions_.begin(scope, access, Durability::strict);
    if (closed_) co_await fail(ErrorCode::closed, "the tab is closed");
    co_return transaction;
}

void LimitStore::quarantine(Transaction& transaction, const Row& row) {
    transaction.put(Store::quarantine, concat({"limits/", row.key}), row.text());
    if (!warned_.insert(row.key).second) return;
    on_notice_({Notice::Kind::warning, "corrupt-record",
                "A record that cannot be read was set aside; all others count.",
                concat({"limits ", row.key}), "", 0});
}

Task<bool> LimitStore::vanished(const std::string& key) {
    const bool known = seen_.contains(key) || co_await marked(key);
    if (known && warned_.insert(key).second) {
        on_notice_({Notice::Kind::store_lost, "limit-lost",
                    "The database vanished; a limit assumes that all of it was used.", "", "", 0});
    }
    co_return known;
}

/// Finds out whether the row exists. If it does not, acquires the right to make it, and asks the
/// locks whether a live tab has seen it. Each attempt of persist() calls this again, because other
/// tabs may have seen a row that a commit with an unknown outcome has made.
Task<void> LimitStore::attend(std::string key, std::shared_ptr<Birth> birth) {
    if (cut_off_) co_await fail(cut_off_error());
    const bool needless = key.empty() || seen_.contains(key) || !durable();
    if (needless || !world_.locks().available() || co_await marked(key)) co_return;
    auto there = co_await attempt(there_is(key));
    if (there && there.value()) {
        seen_.insert(key);
        co_await be_seen(key);
        co_return;
    }
    if (!birth->lock) {
        auto lock = co_await world_.locks().request({.name = names_.limit_birth(key)});
        if (suspended_ || closed_) co_return;  // begin() waits, or fails
        birth->lock = std::move(lock);
        std::erase_if(births_, [](const auto& other) { return other.expired(); });
        births_.push_back(birth);
    }
    const auto name = names_.limit_seen(key);
    const auto snapshot = co_await world_.locks().query({name});
    const auto& held = snapshot.held;
    const bool seen = std::any_of(held.begin(), held.end(),
                                  [&](const LockInfo& lock) { return lock.name == name; });
    if (seen) seen_.insert(key);
}

Task<bool> LimitStore::there_is(std::string key) {
    const auto transaction = co_await begin(Access::read);
    co_return (co_await transaction->get(Store::limits, key)).has_value();
}

/// Holds the lock of tabs that have seen the row. A suspended tab releases it, because a page that
/// holds a lock is not kept in the back/forward cache.
Task<void> LimitStore::be_seen(const std::string& key) {
    if (!durable() || suspended_ || !world_.locks().available() || sights_.contains(key)) co_return;
    auto held = co_await attempt(world_.locks().request(
        {.name = names_.limit_seen(key), .mode = LockMode::shared, .if_available = true}));
    if (held && !suspended_ && !closed_) sights_[key] = std::move(held.value());
}

Task<void> LimitStore::mark(const std::string& key, std::string_view text) {
    seen_.insert(key);
    co_await be_seen(key);
    if (!durable() || !world_.storage().available()) co_return;
    auto& mark = marks_[key];
    if (mark == text) co_return;
    mark = text;
    auto former = co_await attempt(world_.storage().get(names_.limit_mark(key)));
    if (former && former.value() && is_newer(*former.value())) co_return;
    // The mark is a hint: if localStorage is full, there is none.
    (void)co_await attempt(world_.storage().set(names_.limit_mark(key), text));
}

Task<std::optional<std::string>> LimitStore::marked(const std::string& key) {
    if (!durable() || !world_.storage().available()) co_return std::nullopt;
    auto text = co_await attempt(world_.storage().get(names_.limit_mark(key)));
    if (!text) co_return std::nullopt;
    co_return std::move(text.value());
}

void LimitStore::suspend() {
    suspended_ = true;
    transactions_.stop();
    sights_.clear();
    for (const auto& one : std::exchange(births_, {})) {
        if (const auto birth = one.lock()) birth->lock.reset();
    }
}

void LimitStore::resume() {
    suspended_ = false;
    // The locks are requested before any number or right that is left is given out.
    for (const auto& key : seen_) {
        if (!closed_) scope_.spawn(be_seen(key));
    }
    transactions_.resume();
}

void LimitStore::close() {
    closed_ = true;
    sights_.clear();
    resume();
}

}  // namespace tabacus
