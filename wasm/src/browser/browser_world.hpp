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
    [[nodiscard]] bool hidden() const override { return (state() & 1) != 0; }
    [[nodiscard]] bool locks_bar_cache() const override { return (state() & 2) != 0; }
    Subscription on_event(std::function<void(LifecycleEvent)> callback) override {
        return listeners_.add(std::move(callback));
    }
    void emit(LifecycleEvent event) const { listeners_.emit(event); }

  private:
    [[nodiscard]] static int state() { return static_cast<int>(call(Call::lifecycle_state, {})); }

    Listeners<LifecycleEvent> listeners_;
};

class BrowserWorld final : public World {
  public:
    /// `program`: see Numbers.
    explicit BrowserWorld(int program) : operations_(program), channels_(program) {}

    BrowserStorage& storage() override { return storage_; }
    BrowserDatabase& database() override { return database_; }
    BrowserLocks& locks() override { return locks_; }
    std::unique_ptr<Channel> channel(std::string_view name) override {
        return channels_.open(name);
    }
    BrowserClock& clock() override { return clock_; }
    BrowserRandom& random() override { return random_; }
    BrowserLifecycle& lifecycle() override { return lifecycle_; }

    /// Hands an event of the host to the part of this World that it is for.
    void dispatch(HostEvent event, int number, Texts texts);

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
