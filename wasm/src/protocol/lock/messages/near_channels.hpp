// NearChannels: channels for the tabs near a lock. A tab is *near* a lock if it holds it, is the
// next to hold it, tries it (`ifAvailable`) or watches it. When the lock is handed over, only these
// few tabs receive a message, however many tabs wait for the lock.
//
//   state of a channel   meaning                              what ends the state
//   closed               no message is received               listen(), post(): open
//   open                 messages are received                a message while the tab is near none
//                                                             of the channel's locks: closed
//
// Opening a channel costs more than receiving a message. A tab that is no longer near a lock
// therefore leaves the channel open, and closes it when the first message comes that it does not
// need. Each name of a lock belongs to one of a few buckets, and each bucket has one channel, so
// that a tab that holds thousands of locks has few channels open.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/common/names.hpp"
#include "protocol/lock/lock_record.hpp"
#include "tabacus/common/world.hpp"

namespace tabacus {

class NearChannels {
  public:
    /// Calls `receive` with each message and the number of its bucket. It returns whether the tab
    /// is near a lock of the bucket.
    NearChannels(World& world, const Names& names,
                 Function<bool(unsigned, std::string_view)> receive)
        : world_(world), names_(names), receive_(std::move(receive)) {}

    /// Returns the bucket of the lock `key`.
    static unsigned bucket_of(std::string_view key);
    /// Receives the messages about the lock until the tab is no longer near it.
    void listen(const std::string& key) { (void)channel_of(key); }
    void post(const LockMessage& message);
    void post_deferred(const LockMessage& message);
    void close() { open_.clear(); }

  private:
    Channel* channel_of(std::string_view key);

    World& world_;
    const Names& names_;
    Function<bool(unsigned, std::string_view)> receive_;
    std::map<unsigned, std::unique_ptr<Channel>> open_;
};

}  // namespace tabacus
