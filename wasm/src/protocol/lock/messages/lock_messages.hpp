// LockMessages: the messages about locks that a tab sends to others, and receives.
//
//   state    available()   meaning                              what ends the state
//   open     true          messages to all tabs are received    close(): closed
//   closed   false         nothing is sent or received: the     open(): open, if the platform has
//                          page is in the back/forward cache,   channels
//                          or the platform has no channels
//
// A message goes to all tabs, or only to the tabs near the lock (near_channels.hpp). Version 0.1.0
// has no near channels: once a tab of that version has announced a request, messages to the tabs
// near a lock go to all tabs as well.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "near_channels.hpp"
#include "protocol/lock/lock_record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

struct LockContext;

class LockMessages {
  public:
    /// The context must outlive this. It passes the messages on to its queues.
    explicit LockMessages(LockContext& context);

    void open();
    void close();
    [[nodiscard]] bool available() const { return channel_ != nullptr; }

    /// Posts to all tabs.
    void post(LockMessage::Kind kind, const std::string& key,
              std::vector<std::string> detail = {}) const;
    /// Posts to the tabs near the lock. Posts to all tabs where Web Locks do not exclude, or if
    /// this tab has noticed a tab of a version without near channels.
    void post_near(LockMessage::Kind kind, const std::string& key,
                   std::vector<std::string> detail = {});
    /// Does the same a little later (Channel::post_deferred).
    void post_near_deferred(LockMessage::Kind kind, const std::string& key);
    /// Begins to receive what post_near() posts about the lock. This ends when the tab is no longer
    /// near it.
    void listen_near(const std::string& key);
    /// Returns true if a message of this tab about the lock comes back to it: its channel and its
    /// event loop work.
    Task<bool> receives_own_message(std::string key);

  private:
    void on_message(std::string_view text);
    void deliver(const LockMessage& message) const;
    bool receive_near(unsigned bucket, std::string_view text) const;
    /// Whether near channels are used: where Web Locks exclude.
    [[nodiscard]] bool has_near() const;
    [[nodiscard]] bool posts_to_all() const { return older_version_seen_ || !has_near(); }

    LockContext& context_;
    std::unique_ptr<Channel> channel_;  // of all tabs
    NearChannels near_;
    std::map<std::string, Completer<Unit>> echoes_;  // by the nonce that is awaited
    bool older_version_seen_ = false;                // a tab without near channels was noticed
};

}  // namespace tabacus
