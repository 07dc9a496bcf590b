// localStorage, through js/host/storage.js.
#pragma once

#include <emscripten/val.h>

#include "browser/listeners.hpp"
#include "tabacus/world.hpp"

namespace tabacus::browser {

class BrowserStorage final : public Storage {
 public:
    explicit BrowserStorage(emscripten::val host) : host_(std::move(host)) {}

    [[nodiscard]] bool available() const override;
    Async<std::optional<std::string>> get(std::string_view key) override;
    Async<Unit> set(std::string_view key, std::string_view value) override;
    Async<Unit> remove(std::string_view key) override;
    Async<std::vector<std::string>> keys(std::string_view prefix) override;
    Subscription on_change(std::function<void(const StorageChange&)> callback) override;

    void changed(const StorageChange& change) const { listeners_.emit(change); }

 private:
    emscripten::val host_;
    Listeners<StorageChange> listeners_;
};

/// A string, or nothing for null.
std::optional<std::string> optional_string(const emscripten::val& value);

/// The strings of a JavaScript array.
std::vector<std::string> strings(const emscripten::val& array);

}  // namespace tabacus::browser
