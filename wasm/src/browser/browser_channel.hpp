// BroadcastChannel, through js/host/broadcast-channels.js, where a channel is known by a number.
#pragma once

#include <memory>

#include "browser/generated/host.hpp"
#include "protocol/common/listeners.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus::browser {

class BrowserChannels {
  public:
    /// Nothing where the platform has no BroadcastChannel.
    std::unique_ptr<Channel> open(std::string_view name);

    struct Message {
        int channel = 0;
        std::string_view text;
    };
    void emit(const Message& message) const { listeners_.emit(message); }

  private:
    Listeners<Message> listeners_;
    unsigned next_ = 0;
};

}  // namespace tabacus::browser
