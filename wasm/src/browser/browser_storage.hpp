// localStorage, through js/host/local-storage.js.
#pragma once

#include "browser/core/operations.hpp"
#include "protocol/common/listeners.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserStorage final : public Storage {
  public:
    explicit BrowserStorage(Operations& operations) : operations_(operations) {}

    [[nodiscard]] bool available() const override { return host::storage_available(); }
    Async<std::optional<std::string>> get(std::string_view key) override {
        auto [operation, answer] = operations_.begin<Text>(read_text);
        host::storage_get(operation, key);
        return std::move(answer);
    }
    Async<Unit> set(std::string_view key, std::string_view value) override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::storage_set(operation, key, value);
        return std::move(answer);
    }
    Async<Unit> remove(std::string_view key) override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::storage_remove(operation, key);
        return std::move(answer);
    }
    Async<std::vector<std::string>> keys(std::string_view prefix) override;
    /// Requires the same prefix of every caller: that of the namespace.
    Subscription on_change(std::string_view prefix,
                           Function<void(const StorageChange&)> callback) override {
        host::storage_watch(prefix);
        return listeners_.add(std::move(callback));
    }

    void emit(const StorageChange& change) const { listeners_.emit(change); }

  private:
    Operations& operations_;
    Listeners<StorageChange> listeners_;
};

}  // namespace tabacus::browser
