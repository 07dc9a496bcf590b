// The World of a real tab: each part of it is a part of one JavaScript object, the host
// (js/host/host.js), which adapts the platform and decides nothing.
#pragma once

#include <emscripten/val.h>

#include "browser/channel.hpp"
#include "browser/clock.hpp"
#include "browser/database.hpp"
#include "browser/locks.hpp"
#include "browser/storage.hpp"
#include "tabacus/world.hpp"

namespace tabacus::browser {

class BrowserLifecycle final : public Lifecycle {
 public:
    Subscription on_event(std::function<void(LifecycleEvent)> callback) override {
        return listeners_.add(std::move(callback));
    }
    void happened(LifecycleEvent event) const { listeners_.emit(event); }

 private:
    Listeners<LifecycleEvent> listeners_;
};

class BrowserWorld final : public World {
 public:
    explicit BrowserWorld(const emscripten::val& host);

    BrowserStorage& storage() override { return storage_; }
    BrowserDatabase& database() override { return database_; }
    BrowserLocks& locks() override { return locks_; }
    std::unique_ptr<Channel> channel(std::string_view name) override {
        return channels_.open(name);
    }
    BrowserClock& clock() override { return clock_; }
    BrowserRandom& random() override { return random_; }
    BrowserLifecycle& lifecycle() override { return lifecycle_; }

    Operations& operations() { return operations_; }
    BrowserChannels& channels() { return channels_; }

 private:
    Operations operations_;
    BrowserStorage storage_;
    BrowserDatabase database_;
    BrowserLocks locks_;
    BrowserChannels channels_;
    BrowserClock clock_;
    BrowserRandom random_;
    BrowserLifecycle lifecycle_;
};

}  // namespace tabacus::browser
