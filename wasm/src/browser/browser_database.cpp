#include "browser/browser_database.hpp"

namespace tabacus::browser {

namespace {

/// Rows come as key, value, key, value, …; a value that was no string comes as null.
std::vector<Row> read_rows(Texts& answer) {
    std::vector<Row> rows(answer.size() / 2);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        auto& value = answer[2 * i + 1];
        const bool foreign = !value;
        rows[i] = {std::move(answer[2 * i]).value_or(""), std::move(value).value_or(""), foreign};
    }
    return rows;
}

std::optional<Row> read_row(Texts& answer) {
    auto rows = read_rows(answer);
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

/// Known to the host by the number of the operation that began it.
class BrowserTransaction final : public Transaction {
  public:
    BrowserTransaction(int id, Operations& operations) : id_(id), operations_(operations) {}
    BrowserTransaction(const BrowserTransaction&) = delete;
    BrowserTransaction& operator=(const BrowserTransaction&) = delete;
    BrowserTransaction(BrowserTransaction&&) = delete;
    BrowserTransaction& operator=(BrowserTransaction&&) = delete;
    ~BrowserTransaction() override { host::transaction_end(id_); }

    Async<std::optional<Row>> get(Store store, std::string_view key) override {
        auto [operation, answer] = operations_.begin<std::optional<Row>>(read_row);
        host::transaction_get(operation, id_, store, key);
        return std::move(answer);
    }
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                 std::string_view from) override {
        auto [operation, answer] = operations_.begin<std::vector<Row>>(read_rows);
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
        auto [operation, answer] = operations_.begin<Text>(read_text);
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

  private:
    int id_;
    Operations& operations_;
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
                                                           Durability durability) {
    emit_undelivered();
    const int id = operations_.next();
    const auto wrap = [this, id](const Texts&) -> std::unique_ptr<Transaction> {
        return std::make_unique<BrowserTransaction>(id, operations_);
    };
    auto [operation, answer] = operations_.begin<std::unique_ptr<Transaction>>(wrap);
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

}  // namespace tabacus::browser
