// localStorage, through js/host/local-storage.js.
#pragma once

#include "browser/core/operations.hpp"
#include "protocol/common/listeners.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserStorage final : public Storage {
  public:
    explicit BrowserStorage(Operations& operations) : operations_(operations) {}

    [[nodiscard]] bool available() const override { return call(Call::storage_available, {}) != 0; }
    Async<std::optional<std::string>> get(std::string_view key) override {
        return operations_.ask<Text>(Call::storage_get, {.first = key}, read_text);
    }
    Async<Unit> set(std::string_view key, std::string_view value) override {
        return operations_.ask<Unit>(Call::storage_set, {.first = key, .second = value}, read_unit);
    }
    Async<Unit> remove(std::string_view key) override {
        return operations_.ask<Unit>(Call::storage_remove, {.first = key}, read_unit);
    }
    Async<std::vector<std::string>> keys(std::string_view prefix) override;
    /// Requires the same prefix of every caller: that of the namespace.
    Subscription on_change(std::string_view prefix,
                           std::function<void(const StorageChange&)> callback) override {
        call(Call::storage_watch, {.first = prefix});
        return listeners_.add(std::move(callback));
    }

    void emit(const StorageChange& change) const { listeners_.emit(change); }

  private:
    Operations& operations_;
    Listeners<StorageChange> listeners_;
};

}  // namespace tabacus::browser
