#include "near_channels.hpp"

#include "protocol/common/text_hash.hpp"

namespace tabacus {
namespace {

constexpr unsigned buckets = 16;

}  // namespace

unsigned NearChannels::bucket_of(std::string_view key) { return text_hash(key) % buckets; }

Channel* NearChannels::channel_of(std::string_view key) {
    const auto bucket = bucket_of(key);
    auto& channel = open_[bucket];
    if (channel) return channel.get();
    channel = world_.channel(names_.near_channel(bucket));
    if (!channel) return nullptr;
    channel->on_message([this, bucket](std::string_view text) {
        if (!receive_(bucket, text)) open_.erase(bucket);  // it destroys this callback
    });
    return channel.get();
}

void NearChannels::post(const LockMessage& message) {
    if (auto* channel = channel_of(message.key)) channel->post(format_lock_message(message));
}

void NearChannels::post_deferred(const LockMessage& message) {
    auto* channel = channel_of(message.key);
    if (channel) channel->post_deferred(format_lock_message(message));
}

}  // namespace tabacus
