#include "browser/database.hpp"

#include <array>

#include "browser/storage.hpp"

namespace tabacus::browser {

using emscripten::val;

namespace {

/// The object stores' names, in the order of Store.
constexpr std::array<std::string_view, 5> store_names = {"meta", "claims", "rows", "counters",
                                                         "aside"};

std::string name_of(Store store) {
    return std::string(store_names[static_cast<std::size_t>(store)]);
}

/// Rows come as [key, value, key, value, …]; a value that was no string comes as null.
std::vector<Row> read_rows(const val& flat) {
    std::vector<Row> rows(flat["length"].as<unsigned>() / 2);
    for (unsigned i = 0; i < rows.size(); ++i) {
        const auto value = optional_string(flat[2 * i + 1]);
        rows[i] = {flat[2 * i].as<std::string>(), value.value_or(""), !value};
    }
    return rows;
}

std::optional<Row> read_row(const val& flat) {
    auto rows = read_rows(flat);
    if (rows.empty()) return std::nullopt;
    return std::move(rows.front());
}

class BrowserTransaction final : public Transaction {
 public:
    BrowserTransaction(val host, Operations& operations)
        : host_(std::move(host)), operations_(operations) {}
    BrowserTransaction(const BrowserTransaction&) = delete;
    BrowserTransaction& operator=(const BrowserTransaction&) = delete;
    BrowserTransaction(BrowserTransaction&&) = delete;
    BrowserTransaction& operator=(BrowserTransaction&&) = delete;
    ~BrowserTransaction() override {
        if (!committed_) host_.call<void>("abort");
    }

    Async<std::optional<Row>> get(Store store, std::string_view key) override {
        return start("get", read_row, name_of(store), key);
    }
    Async<std::vector<Row>> list(Store store, std::string_view prefix) override {
        return start("list", read_rows, name_of(store), prefix);
    }
    void put(Store store, std::string_view key, std::string_view value) override {
        host_.call<void>("put", name_of(store), std::string(key), std::string(value));
    }
    void remove(Store store, std::string_view key) override {
        host_.call<void>("remove", name_of(store), std::string(key));
    }
    Async<std::optional<std::string>> holder(std::string_view subject) override {
        return start("holder", optional_string, name_of(Store::claims), subject);
    }
    void claim(std::string_view subject, std::string_view holder) override {
        host_.call<void>("claim", std::string(subject), std::string(holder));
    }
    void release(std::string_view holder) override {
        remove(Store::claims, holder);
    }
    Async<Unit> commit() override {
        committed_ = true;
        const Completer<Unit> completer;
        host_.call<void>("commit", operations_.begin(completer, read_unit));
        return completer.async();
    }

 private:
    template <typename T>
    Async<T> start(const char* method, T (*read)(const val&), std::string store,
                   std::string_view key) {
        const Completer<T> completer;
        host_.call<void>(method, operations_.begin(completer, read), std::move(store),
                         std::string(key));
        return completer.async();
    }

    val host_;
    Operations& operations_;
    bool committed_ = false;
};

}  // namespace

bool BrowserDatabase::available() const {
    return host_["available"].as<bool>();
}

Async<std::unique_ptr<Transaction>> BrowserDatabase::begin(std::span<const Store> scope,
                                                           Access access, Durability durability) {
    const auto wrap = [this](const val& host) -> std::unique_ptr<Transaction> {
        return std::make_unique<BrowserTransaction>(host, operations_);
    };
    if (unheard_ && !listeners_.empty()) {
        listeners_.emit(*std::exchange(unheard_, std::nullopt));
    }
    std::string names;
    for (const Store store : scope) names += name_of(store) + " ";
    const Completer<std::unique_ptr<Transaction>> completer;
    host_.call<void>("begin", operations_.begin(completer, wrap), std::move(names),
                     access == Access::write, durability == Durability::strict);
    return completer.async();
}

void BrowserDatabase::happened(DatabaseEvent event) {
    if (listeners_.empty()) {
        unheard_ = std::move(event);
    } else {
        listeners_.emit(event);
    }
}

void BrowserDatabase::close() {
    host_.call<void>("close");
}

Subscription BrowserDatabase::on_event(std::function<void(const DatabaseEvent&)> callback) {
    return listeners_.add(std::move(callback));
}

}  // namespace tabacus::browser
