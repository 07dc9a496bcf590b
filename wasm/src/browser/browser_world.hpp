// The World of a real tab: each part of it asks a part of the host (js/host/), which adapts the
// platform and decides nothing.
#pragma once

#include "browser/browser_channel.hpp"
#include "browser/browser_clock.hpp"
#include "browser/browser_database.hpp"
#include "browser/browser_locks.hpp"
#include "browser/browser_storage.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserLifecycle final : public Lifecycle {
  public:
    [[nodiscard]] bool hidden() const override { return host::lifecycle_hidden(); }
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
    BrowserClock& clock() override { return clock_; }
    BrowserRandom& random() override { return random_; }
    BrowserLifecycle& lifecycle() override { return lifecycle_; }

    // The events of the host, each for the part of this World that it is about (bridge/host.js).
    void settled(int operation, Texts answer) { operations_.settled(operation, std::move(answer)); }
    void failed(int operation, std::string code, std::string message) {
        operations_.failed(operation, code, message);
    }
    void storage_changed(Text key, Text old_value, Text new_value) const {
        storage_.emit({std::move(key), std::move(old_value), std::move(new_value)});
    }
    void database_created(std::string data_loss) {
        database_.emit({DatabaseEvent::Kind::created, std::move(data_loss)});
    }
    void database_closed() { database_.emit({DatabaseEvent::Kind::closed, {}}); }
    void lock_lost(int request) const { locks_.lost(request); }
    void message(int channel, std::string text) const { channels_.emit({channel, text}); }
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
