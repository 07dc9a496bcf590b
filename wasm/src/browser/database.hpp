// IndexedDB, through js/host/database.js, which owns the connection.
#pragma once

#include <emscripten/val.h>

#include "browser/listeners.hpp"
#include "browser/operations.hpp"
#include "tabacus/world.hpp"

namespace tabacus::browser {

class BrowserDatabase final : public Database {
 public:
    BrowserDatabase(emscripten::val host, Operations& operations)
        : host_(std::move(host)), operations_(operations) {}

    [[nodiscard]] bool available() const override;
    Async<std::unique_ptr<Transaction>> begin(std::span<const Store> scope, Access access,
                                              Durability durability) override;
    void close() override;
    Subscription on_event(std::function<void(const DatabaseEvent&)> callback) override;

    void happened(const DatabaseEvent& event) const { listeners_.emit(event); }

 private:
    emscripten::val host_;
    Operations& operations_;
    Listeners<DatabaseEvent> listeners_;
};

}  // namespace tabacus::browser
