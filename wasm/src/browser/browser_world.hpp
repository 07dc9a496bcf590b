// BrowserWorld: the World of a real tab. Each of its parts calls a part of the host (js/host/),
// which adapts the platform and decides nothing.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "browser/core/operations.hpp"
#include "protocol/common/listeners.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

/// localStorage, through js/host/local-storage.js.
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
    /// Requires that every caller passes the same prefix, that of the namespace.
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

/// IndexedDB, through js/host/database.js, which owns the connection.
class BrowserDatabase final : public Database {
  public:
    explicit BrowserDatabase(Operations& operations) : operations_(operations) {}

    [[nodiscard]] bool available() const override { return host::database_available(); }
    Async<Unit> open() override;
    Async<std::unique_ptr<Transaction>> begin(Stores scope, Access access, Durability durability,
                                              const TransactionGroup* group) override;
    void close() override { host::database_close(); }
    Subscription on_event(Function<void(const DatabaseEvent&)> callback) override {
        return listeners_.add(std::move(callback));
    }

    /// Emits an event. If there is no listener yet, keeps the event until the next open() or
    /// begin(), because the event `created` may come while the tab is being opened.
    void emit(DatabaseEvent event);

  private:
    void emit_undelivered();

    Operations& operations_;
    Listeners<DatabaseEvent> listeners_;
    std::optional<DatabaseEvent> undelivered_;
};

/// Web Locks, through js/host/web-locks.js. The host identifies a lock by the number of the
/// operation that requested it.
class BrowserLocks final : public Locks {
  public:
    explicit BrowserLocks(Operations& operations) : operations_(operations) {}

    [[nodiscard]] bool available() const override { return host::locks_available(); }
    Async<std::unique_ptr<HeldLock>> request(LockRequest request) override;
    Async<LockSnapshot> query(const std::vector<std::string>& probed) override;
    Async<Unit> probe() override;

    /// Handles the host's report that another context stole the lock.
    void lost(int id) const;

  private:
    struct Held;
    struct AllHeld : Counted {
        std::list<Held*> locks;
    };

    Operations& operations_;
    Shared<AllHeld> held_{std::make_unique<AllHeld>()};
};

/// BroadcastChannel, through js/host/broadcast-channels.js. The host identifies a channel by a
/// number.
class BrowserChannels {
  public:
    /// Opens a channel. Returns null if the platform has no BroadcastChannel.
    std::unique_ptr<Channel> open(std::string_view name);

    /// Opens a channel whose messages carry values (js/host/value-channels.js). Returns null if the
    /// platform has no BroadcastChannel.
    std::unique_ptr<ValueChannel> open_values(std::string_view name);

    struct Message {
        int channel = 0;
        std::string_view text;
    };
    void emit(const Message& message) const { listeners_.emit(message); }

  private:
    Listeners<Message> listeners_;
    unsigned next_ = 0;
};

/// Time, through js/host/clock.js.
class BrowserClock final : public Clock {
  public:
    explicit BrowserClock(Operations& operations) : operations_(operations) {}

    [[nodiscard]] double now_ms() const override { return host::clock_now(); }
    [[nodiscard]] double monotonic_ms() const override { return host::clock_monotonic(); }
    Async<Unit> sleep(double delay_ms) override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::clock_sleep(operation, delay_ms);
        return std::move(answer);
    }
    Async<Unit> after_microtasks(int count) override {
        auto [operation, answer] = operations_.begin<Unit>(read_unit);
        host::clock_after_microtasks(operation, count);
        return std::move(answer);
    }

  private:
    Operations& operations_;
};

/// Randomness, through js/host/clock.js.
class BrowserRandom final : public Random {
  public:
    /// Makes two calls for 32 bits each, because a number of JavaScript cannot hold 64 bits.
    std::uint64_t bits() override {
        const auto high = static_cast<std::uint64_t>(host::clock_random32());
        return high << 32 | static_cast<std::uint64_t>(host::clock_random32());
    }
};

/// The page's lifecycle, which the host reports.
class BrowserLifecycle final : public Lifecycle {
  public:
    [[nodiscard]] bool hidden() const override { return host::lifecycle_hidden(); }
    [[nodiscard]] bool prerendering() const override { return host::lifecycle_prerendering(); }
    [[nodiscard]] bool locks_bar_cache() const override {
        return host::lifecycle_locks_bar_cache();
    }
    Subscription on_event(Function<void(LifecycleEvent)> callback) override {
        return listeners_.add(std::move(callback));
    }
    void emit(LifecycleEvent event) const { listeners_.emit(event); }

  private:
    Listeners<LifecycleEvent> listeners_;
};

class BrowserWorld final : public World {
  public:
    BrowserStorage& storage() override { return storage_; }
    BrowserDatabase& database() override { return database_; }
    BrowserLocks& locks() override { return locks_; }
    std::unique_ptr<Channel> channel(std::string_view name) override {
        return channels_.open(name);
    }
    std::unique_ptr<ValueChannel> value_channel(std::string_view name) override {
        return channels_.open_values(name);
    }
    BrowserClock& clock() override { return clock_; }
    BrowserRandom& random() override { return random_; }
    BrowserLifecycle& lifecycle() override { return lifecycle_; }

    // The events of the host (bridge/host.js). Each one is passed on to its part of this World.
    void settled(int operation, Texts&& answer) {
        operations_.settled(operation, std::move(answer));
    }
    void failed(int operation, ErrorCode code, const std::string& message) {
        operations_.failed(operation, code, message);
    }
    void storage_changed(Text&& key, Text&& old_value, Text&& new_value) const {
        storage_.emit({std::move(key), std::move(old_value), std::move(new_value)});
    }
    void database_created(std::string&& data_loss) {
        database_.emit({DatabaseEvent::Kind::created, std::move(data_loss)});
    }
    void database_closed() { database_.emit({DatabaseEvent::Kind::closed, {}}); }
    void lock_lost(int request) const { locks_.lost(request); }
    void message(int channel, std::string_view text) const { channels_.emit({channel, text}); }
    void lifecycle(LifecycleEvent event) const { lifecycle_.emit(event); }

  private:
    Operations operations_;
    BrowserStorage storage_{operations_};
    BrowserDatabase database_{operations_};
    BrowserLocks locks_{operations_};
    BrowserChannels channels_;
    BrowserClock clock_{operations_};
    BrowserRandom random_;
    BrowserLifecycle lifecycle_;
};

}  // namespace tabacus::browser
