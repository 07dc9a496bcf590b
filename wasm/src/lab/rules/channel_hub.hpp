// ChannelHub: the BroadcastChannel objects of an origin, and which of them receive a message (HTML
// §9.5).
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/scheduler.hpp"
#include "tabacus/common/function.hpp"

namespace tabacus::lab {

class ChannelHub {
  public:
    using EndpointId = std::uint64_t;
    using Callback = Function<void(std::string_view)>;
    struct Endpoint {
        EndpointId id;
        TabId tab;
        std::string name;
        Callback callback;
    };

    explicit ChannelHub(FootprintRecorder& recorder) : recorder_(&recorder) {}

    EndpointId open(TabId tab, std::string_view name) {
        recorder_->note(Object::channel, name, 0, AccessKind::write);
        const auto id = ids_.next(tab);
        endpoints_.push_back({id, tab, std::string(name), {}});
        return id;
    }
    void listen(EndpointId id, Callback callback) {
        if (auto* endpoint = find(id)) endpoint->callback = std::move(callback);
    }
    void close(EndpointId id) {
        if (const auto* endpoint = find(id)) {
            recorder_->note(Object::channel, endpoint->name, 0, AccessKind::write);
        }
        std::erase_if(endpoints_, [id](const Endpoint& endpoint) { return endpoint.id == id; });
    }
    void end(TabId tab) {
        for (const auto& endpoint : endpoints_) {
            if (endpoint.tab != tab) continue;
            recorder_->note(Object::channel, endpoint.name, 0, AccessKind::write);
        }
        std::erase_if(endpoints_, [tab](const Endpoint& endpoint) { return endpoint.tab == tab; });
    }

    /// Returns the receivers of postMessage(): every channel object of the name except the sender.
    [[nodiscard]] std::vector<std::pair<TabId, EndpointId>> receivers(std::string_view name,
                                                                      EndpointId sender) const {
        recorder_->note(Object::channel, name, 0, AccessKind::read);
        std::vector<std::pair<TabId, EndpointId>> found;
        for (const auto& endpoint : endpoints_) {
            if (endpoint.name == name && endpoint.id != sender) {
                found.emplace_back(endpoint.tab, endpoint.id);
            }
        }
        return found;
    }
    /// Calls the channel's callback. Does nothing if the channel was closed since the post.
    void deliver(EndpointId id, std::string_view message) {
        const auto* endpoint = find(id);
        if (endpoint == nullptr || !endpoint->callback) return;
        const auto callback = endpoint->callback;  // a copy, because it may close its channel
        callback(message);
    }
    /// Returns a hash of the open channels.
    [[nodiscard]] std::uint64_t digest() const {
        std::uint64_t sum = 0;
        for (const auto& endpoint : endpoints_) {
            sum += lab::digest(endpoint.id, std::string_view(endpoint.name));
        }
        return sum;
    }
    [[nodiscard]] const std::string& name_of(EndpointId id) { return find(id)->name; }

  private:
    Endpoint* find(EndpointId id) {
        const auto found =
            std::find_if(endpoints_.begin(), endpoints_.end(),
                         [id](const Endpoint& endpoint) { return endpoint.id == id; });
        return found == endpoints_.end() ? nullptr : &*found;
    }
    FootprintRecorder* recorder_;
    std::vector<Endpoint> endpoints_;
    OwnedIds ids_;
};

}  // namespace tabacus::lab
