// LockDriverScene: the parts of a lock's queue that refer to all other parts, over a native lock
// that a test scripts. Another tab receives the messages that they post.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lock_parts_scene.hpp"
#include "protocol/lock/queue/lock_driver.hpp"

namespace tabacus::test {

/// The program of another tab: it keeps the messages about the lock "l", and holds Web Locks.
class Neighbour {
  public:
    explicit Neighbour(World& world) : world_(world) {
        listen(names.locks_channel());
        listen(names.near_channel(NearChannels::bucket_of("l")));
    }

    /// Requests a Web Lock, and holds it until it is stolen or release() is called.
    void hold(std::string name, LockMode mode = LockMode::exclusive) {
        scope_.spawn([](Neighbour& self, std::string of, LockMode as) -> Task<void> {
            auto lock = co_await self.world_.locks().request({.name = std::move(of), .mode = as});
            lock->on_lost([&self] { ++self.lost; });
            self.held.push_back(std::move(lock));
        }(*this, std::move(name), mode));
    }
    /// Returns the details of the messages of that kind that were received.
    [[nodiscard]] std::vector<std::vector<std::string>> received(LockMessage::Kind kind) const {
        std::vector<std::vector<std::string>> details;
        for (const auto& message : messages) {
            if (message.kind == kind) details.push_back(message.detail);
        }
        return details;
    }

    Names names{"test"};
    std::vector<LockMessage> messages;
    std::vector<std::unique_ptr<HeldLock>> held;  // in the order of the grants
    int lost = 0;                                 // how many of them were stolen

  private:
    void listen(const std::string& name) {
        channels_.push_back(world_.channel(name));
        channels_.back()->on_message([this](std::string_view text) {
            if (auto message = parse_lock_message(text)) messages.push_back(std::move(*message));
        });
    }

    World& world_;
    std::vector<std::unique_ptr<Channel>> channels_;
    Scope scope_;  // declared last: its coroutines use all members above
};

struct LockDriverScene : LockPartsScene {
    LockDriverScene() = default;
    LockDriverScene(const LockDriverScene&) = delete;
    LockDriverScene& operator=(const LockDriverScene&) = delete;
    LockDriverScene(LockDriverScene&&) = delete;
    LockDriverScene& operator=(LockDriverScene&&) = delete;
    /// The coroutines of the parts below end before the parts do.
    ~LockDriverScene() {
        parts.context.state.close();
        parts.holds->set_acquiring(false);
        parts.holds->lose_all("closed");
    }

    /// A request that joins the queue and is served.
    AcquireRequestPtr serve(LockOptions options = {}) {
        auto request = parts.ask(std::move(options));
        driver.start();
        return request;
    }
    /// Makes the native lock answer the acquire() that waits, and later ones.
    void answer(bool available) {
        auto& native = *parts.native;
        native.available = available;
        native.deferred = false;
        native.answer.complete({});
    }
    /// Makes the other tab hold the Web Lock of that name.
    void hold_elsewhere(const std::string& name, LockMode mode = LockMode::exclusive) {
        const auto before = neighbour.held.size();
        neighbour.hold(name, mode);
        origin.run_until([&] { return neighbour.held.size() > before; });
    }

    lab::LabTab& other = origin.open_tab();
    Neighbour& neighbour = other.run<Neighbour>(other);
    Availability availability{parts.lock};
    LockEvictor evictor{parts.lock, parts.requests, *parts.holds};
    HolderCheck check{parts.lock, parts.requests, *parts.holds, evictor};
    LockDriver driver{parts.lock,   parts.requests,  parts.contenders, *parts.holds, parts.order,
                      availability, parts.hand_over, evictor,          check};
};

}  // namespace tabacus::test
