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

    /// An event that comes before anybody listens waits for the next begin(): the one that made the
    /// database comes while the tab is being opened.
    void happened(DatabaseEvent event);

 private:
    emscripten::val host_;
    Operations& operations_;
    Listeners<DatabaseEvent> listeners_;
    std::optional<DatabaseEvent> unheard_;
};

}  // namespace tabacus::browser
