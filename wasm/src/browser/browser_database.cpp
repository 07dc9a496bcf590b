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
    ~BrowserTransaction() override { call(Call::transaction_end, {.object = id_}); }

    Async<std::optional<Row>> get(Store store, std::string_view key) override {
        return operations_.ask<std::optional<Row>>(Call::transaction_get, about(store, key),
                                                   read_row);
    }
    Async<std::vector<Row>> list(Store store, std::string_view prefix, std::uint32_t limit,
                                 std::string_view from) override {
        // In one number: the store in the last 16th, the limit above it, none as 0.
        Arguments arguments = about(store, prefix, from);
        if (limit != rows_max) arguments.number += 16.0 * limit;
        return operations_.ask<std::vector<Row>>(Call::transaction_list, arguments, read_rows);
    }
    [[gnu::noinline]] void put(Store store, std::string_view key, std::string_view value) override {
        call(Call::transaction_put, about(store, key, value));
    }
    void remove(Store store, std::string_view key) override {
        call(Call::transaction_remove, about(store, key));
    }
    void remove_range(Store store, std::string_view first, std::string_view last) override {
        call(Call::transaction_remove, about(store, first, last));
    }
    Async<std::optional<std::string>> holder(std::string_view subject) override {
        return operations_.ask<Text>(Call::transaction_holder, about(Store::claims, subject),
                                     read_text);
    }
    [[gnu::noinline]] void claim(std::string_view subject, std::string_view holder) override {
        call(Call::transaction_claim, about(Store::claims, subject, holder));
    }
    void release(std::string_view holder) override { remove(Store::claims, holder); }
    Async<Unit> commit() override {
        return operations_.ask<Unit>(Call::transaction_commit, {.object = id_}, read_unit);
    }

  private:
    [[nodiscard]] Arguments about(Store store, std::string_view first,
                                  std::string_view second = {}) const {
        return {
            .object = id_, .number = static_cast<double>(store), .first = first, .second = second};
    }

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
    return operations_.ask<Unit>(Call::database_open, {}, read_unit);
}

Async<std::unique_ptr<Transaction>> BrowserDatabase::begin(std::span<const Store> scope,
                                                           Access access, Durability durability) {
    emit_undelivered();
    // A bit for each store, above one for writing and one for strict.
    unsigned bits =
        (access == Access::write ? 1U : 0U) | (durability == Durability::strict ? 2U : 0U);
    for (const Store store : scope) bits |= 4U << static_cast<unsigned>(store);
    const int id = operations_.next();
    const auto wrap = [this, id](const Texts&) -> std::unique_ptr<Transaction> {
        return std::make_unique<BrowserTransaction>(id, operations_);
    };
    return operations_.ask<std::unique_ptr<Transaction>>(
        Call::database_begin, {.number = static_cast<double>(bits)}, wrap);
}

void BrowserDatabase::emit(DatabaseEvent event) {
    if (listeners_.empty()) {
        undelivered_ = std::move(event);
    } else {
        listeners_.emit(event);
    }
}

}  // namespace tabacus::browser
