// IndexedDB, through js/host/database.js, which owns the connection.
#pragma once

#include "browser/core/operations.hpp"
#include "protocol/common/listeners.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserDatabase final : public Database {
  public:
    explicit BrowserDatabase(Operations& operations) : operations_(operations) {}

    [[nodiscard]] bool available() const override { return host::database_available(); }
    Async<Unit> open() override;
    Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access,
                                              Durability durability) override;
    void close() override { host::database_close(); }
    Subscription on_event(Function<void(const DatabaseEvent&)> callback) override {
        return listeners_.add(std::move(callback));
    }

    /// An event that comes before anybody listens waits for the next open() or begin(): the one that
    /// made the database comes while the tab is being opened.
    void emit(DatabaseEvent event);

  private:
    void emit_undelivered();

    Operations& operations_;
    Listeners<DatabaseEvent> listeners_;
    std::optional<DatabaseEvent> undelivered_;
};

}  // namespace tabacus::browser
