#include "browser/browser_world.hpp"

#include <algorithm>

#include "protocol/common/record.hpp"
#include "protocol/common/version_guard.hpp"

namespace tabacus::browser {
namespace {

/// Warns that a tab of a newer version is open. JavaScript emits one event for all these warnings.
[[gnu::noinline]] void warn_of_newer(std::string_view subject) {
    host::notice({Notice::Kind::warning, "version-mismatch",
                  "A newer version of tabacus is in use: close or reload this tab.",
                  std::string(subject), "", 0});
}

}  // namespace

// --- localStorage -------------------------------------------------------------------------------

Async<std::vector<std::string>> BrowserStorage::keys(std::string_view prefix) {
    const auto read = [](Texts& answer) {
        std::vector<std::string> keys(answer.size());
        for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = std::move(answer[i]).value_or("");
        return keys;
    };
    auto [operation, answer] = operations_.begin<std::vector<std::string>>(read);
    host::storage_keys(operation, prefix);
    return std::move(answer);
}

// --- IndexedDB ----------------------------------------------------------------------------------

namespace {

/// Reads rows, which come as key, value, key, value, … A value that is not a string comes as null.
std::vector<Row> read_rows(Texts& answer) {
    std::vector<Row> rows(answer.size() / 2);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& value = answer[2 * i + 1];
        const bool foreign = !value;
        rows[i] = {std::move(answer[2 * i]).value_or(""), std::move(value).value_or(""), foreign};
    }
    return rows;
}

[[gnu::noinline]] Failure refusal_of(Store store, ReadBy by, const Texts& answer) {
    for (std::size_t i = 0; i + 1 < answer.size(); i += 2) {
        const auto& value = answer[i + 1];
        if (!value || !is_newer_row(store, *answer[i], *value)) continue;
        warn_of_newer(*answer[i]);
        if (bars_reader(store, by, *answer[i])) return failure_of(newer_record(*answer[i]));
    }
    return nullptr;
}

std::optional<Row> read_row(Texts& answer) {
    auto rows = read_rows(answer);
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

/// Reads an answer of rows of a store, and refuses rows that only a newer version can read.
template <typename T>
struct RowsReader {
    Store store;
    ReadBy by;
    T (*read)(Texts& answer);

    T operator()(Texts& answer) const { return read(answer); }
    [[nodiscard]] Failure refusal(const Texts& answer) const {
        return refusal_of(store, by, answer);
    }
};

/// A transaction. The host identifies it by the number of the operation that began it.
class BrowserTransaction final : public Transaction {
  public:
    BrowserTransaction(int id, Operations& operations, TransactionGroup::Member member)
        : id_(id), operations_(operations), member_(std::move(member)) {
        member_.begun(*this);
    }
    BrowserTransaction(const BrowserTransaction&) = delete;
    BrowserTransaction& operator=(const BrowserTransaction&) = delete;
    BrowserTransaction(BrowserTransaction&&) = delete;
    BrowserTransaction& operator=(BrowserTransaction&&) = delete;
    ~BrowserTransaction() override { host::transaction_end(id_); }

    Async<std::optional<Row>> get(Store store, std::string_view key) override {
        auto [operation, answer] =
            operations_.begin<std::optional<Row>>(RowsReader(store, ReadBy::get, read_row));
        host::transaction_get(operation, id_, store, key);
        return std::move(answer);
    }
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                 std::string_view from) override {
        auto [operation, answer] =
            operations_.begin<std::vector<Row>>(RowsReader(store, ReadBy::list, read_rows));
        host::transaction_list(operation, id_, store, prefix, limit, from);
        return std::move(answer);
    }
    [[gnu::noinline]] void put(Store store, std::string_view key, std::string_view value) override {
        host::transaction_put(id_, store, key, value);
    }
    void remove(Store store, std::string_view key) override {
        host::transaction_remove(id_, store, key);
    }
    void remove_range(Store store, std::string_view first, std::string_view last) override {
        host::transaction_remove_range(id_, store, first, last);
    }
    Async<std::optional<std::string>> holder(std::string_view subject) override {
        const auto read = [](Texts& holder) {
            if (holder.front() && is_newer(*holder.front())) warn_of_newer(*holder.front());
            return read_text(holder);
        };
        auto [operation, answer] = operations_.begin<Text>(read);
        host::transaction_holder(operation, id_, subject);
        return std::move(answer);
    }
    [[gnu::noinline]] void claim(std::string_view subject, std::string_view holder) override {
        host::transaction_claim(id_, subject, holder);
    }
    void release(std::string_view holder) override { remove(Store::claims, holder); }
    Async<Unit> commit() override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::transaction_commit(operation, id_);
        return std::move(answer);
    }
    void abort() override { host::transaction_abort(id_); }

  private:
    int id_;
    Operations& operations_;
    TransactionGroup::Member member_;
};

}  // namespace

void BrowserDatabase::emit_undelivered() {
    if (undelivered_ && !listeners_.empty()) {
        listeners_.emit(*std::exchange(undelivered_, std::nullopt));
    }
}

Async<Unit> BrowserDatabase::open() {
    emit_undelivered();
    auto [operation, answer] = operations_.begin<Unit>(read_unit);
    host::database_open(operation);
    return std::move(answer);
}

Async<std::unique_ptr<Transaction>> BrowserDatabase::begin(Stores scope, Access access,
                                                           Durability durability,
                                                           const TransactionGroup* group) {
    emit_undelivered();
    const int id = operations_.next();
    auto wrap = [this, id, member = TransactionGroup::Member(group)](
                    const Texts&) mutable -> std::unique_ptr<Transaction> {
        return std::make_unique<BrowserTransaction>(id, operations_, std::move(member));
    };
    auto [operation, answer] = operations_.begin<std::unique_ptr<Transaction>>(std::move(wrap));
    host::database_begin(operation, scope, access, durability);
    return std::move(answer);
}

void BrowserDatabase::emit(DatabaseEvent event) {
    if (listeners_.empty()) {
        undelivered_ = std::move(event);
    } else {
        listeners_.emit(event);
    }
}

// --- Web Locks ----------------------------------------------------------------------------------

struct BrowserLocks::Held final : HeldLock {
    Held(int request, Shared<AllHeld> all_held)
        : id(request),
          all(std::move(all_held)),
          among_all(all->locks.insert(all->locks.end(), this)) {}
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Held(Held&&) = delete;
    Held& operator=(Held&&) = delete;
    ~Held() override {
        all->locks.erase(among_all);
        host::locks_release(id);
    }
    void on_lost(Function<void()> callback) override { when_lost = std::move(callback); }

    int id;
    Shared<AllHeld> all;
    std::list<Held*>::iterator among_all;
    Function<void()> when_lost;
};

namespace {

/// Reads a snapshot of the lock manager, which comes as a text that says whether it is complete, and
/// four texts for each lock: held, name, exclusive, client id. Null stands for false.
LockSnapshot read_snapshot(Texts& answer) {
    LockSnapshot snapshot;
    snapshot.complete = answer[0].has_value();
    for (std::size_t i = 1; i + 3 < answer.size(); i += 4) {
        auto& list = answer[i] ? snapshot.held : snapshot.pending;
        list.push_back({std::move(answer[i + 1]).value_or(""),
                        answer[i + 2] ? LockMode::exclusive : LockMode::shared,
                        std::move(answer[i + 3]).value_or("")});
    }
    return snapshot;
}

}  // namespace

Async<std::unique_ptr<HeldLock>> BrowserLocks::request(LockRequest request) {
    const int id = operations_.next();
    // An answer with a text means that an `ifAvailable` request was refused. The answer to a grant
    // is empty.
    const auto wrap = [id, held = held_](const Texts& answer) -> std::unique_ptr<HeldLock> {
        if (!answer.empty()) return nullptr;
        return std::make_unique<Held>(id, held);
    };
    auto [operation, granted] = operations_.begin<std::unique_ptr<HeldLock>>(wrap);
    host::locks_request(operation, request.name, request.mode, request.if_available, request.steal);
    if (request.signal) {
        const auto abort = [id] { host::locks_abort(id); };
        if (request.signal->aborted()) {
            abort();
        } else {
            request.signal->on_abort(abort);
        }
    }
    return std::move(granted);
}

Async<LockSnapshot> BrowserLocks::query(const std::vector<std::string>& probed) {
    auto [operation, answer] = operations_.begin<LockSnapshot>(read_snapshot);
    host::locks_query(operation, probed);
    return std::move(answer);
}

Async<Unit> BrowserLocks::probe() {
    auto [operation, answer] = operations_.begin<Unit>(read_unit);
    host::locks_probe(operation);
    return std::move(answer);
}

void BrowserLocks::lost(int id) const {
    const auto& locks = held_->locks;
    const auto found =
        std::find_if(locks.begin(), locks.end(), [id](const Held* held) { return held->id == id; });
    if (found == locks.end()) return;
    const auto callback = std::exchange((*found)->when_lost, nullptr);
    if (callback) callback();
}

// --- BroadcastChannel ---------------------------------------------------------------------------

namespace {

class BrowserChannel final : public Channel {
  public:
    BrowserChannel(int id, Listeners<BrowserChannels::Message>& listeners)
        : id_(id), listeners_(listeners) {}
    BrowserChannel(const BrowserChannel&) = delete;
    BrowserChannel& operator=(const BrowserChannel&) = delete;
    BrowserChannel(BrowserChannel&&) = delete;
    BrowserChannel& operator=(BrowserChannel&&) = delete;
    ~BrowserChannel() override { host::channel_close(id_); }

    void post(std::string_view message) override { host::channel_post(id_, message); }
    void post_deferred(std::string_view message) override {
        host::channel_post_deferred(id_, message);
    }
    void on_message(Function<void(std::string_view)> callback) override {
        subscription_ = listeners_.add(
            [id = id_, callback = std::move(callback)](const BrowserChannels::Message& message) {
                if (message.channel != id) return;
                if (is_newer(message.text)) warn_of_newer("");
                callback(message.text);  // no protocol acts on what it cannot read
            });
    }

  private:
    int id_;
    Listeners<BrowserChannels::Message>& listeners_;
    Subscription subscription_;
};

/// Separates a message from the number of its value.
constexpr char value_separator = '\n';

class BrowserValueChannel final : public ValueChannel {
  public:
    BrowserValueChannel(int id, Listeners<BrowserChannels::Message>& listeners)
        : id_(id), listeners_(listeners) {}
    BrowserValueChannel(const BrowserValueChannel&) = delete;
    BrowserValueChannel& operator=(const BrowserValueChannel&) = delete;
    BrowserValueChannel(BrowserValueChannel&&) = delete;
    BrowserValueChannel& operator=(BrowserValueChannel&&) = delete;
    ~BrowserValueChannel() override { host::channel_close(id_); }

    void post(std::string_view message, std::string_view value) override {
        host::value_channel_post(id_, message, value);
    }
    void on_message(Function<void(std::string_view, std::string)> callback) override {
        subscription_ = listeners_.add(
            [id = id_, callback = std::move(callback)](const BrowserChannels::Message& message) {
                if (message.channel != id) return;
                if (is_newer(message.text)) warn_of_newer("");
                const auto end = message.text.find(value_separator);
                callback(message.text.substr(0, end),
                         end < message.text.size() ? std::string(message.text.substr(end + 1))
                                                   : std::string());
            });
    }
    std::string copy(std::string_view value) override {
        return format_decimal(static_cast<std::int64_t>(host::value_copy(value)));
    }
    void drop(std::string_view value) override { host::value_drop(value); }

  private:
    int id_;
    Listeners<BrowserChannels::Message>& listeners_;
    Subscription subscription_;
};

}  // namespace

std::unique_ptr<ValueChannel> BrowserChannels::open_values(std::string_view name) {
    const int id = static_cast<int>(next_++);
    if (!host::value_channel_open(id, name)) return nullptr;
    return std::make_unique<BrowserValueChannel>(id, listeners_);
}

std::unique_ptr<Channel> BrowserChannels::open(std::string_view name) {
    const int id = static_cast<int>(next_++);
    if (!host::channel_open(id, name)) return nullptr;
    return std::make_unique<BrowserChannel>(id, listeners_);
}

}  // namespace tabacus::browser
