#include "lock_messages.hpp"

#include <algorithm>
#include <utility>

#include "protocol/common/record.hpp"
#include "protocol/common/timer.hpp"
#include "protocol/common/version_guard.hpp"
#include "protocol/lock/lock_queue.hpp"

namespace tabacus {
namespace {

/// The most fields of a request. A request that is repeated on the channel of all tabs, for tabs of
/// version 0.1.0, has one more field, the mark. A tab of this version ignores a request with the
/// mark: if it is near the lock, it has received the request on a near channel.
constexpr std::size_t request_fields = 3;
constexpr const char* repeated_mark = "2";
/// How long a tab's message to itself may take.
constexpr double echo_within_ms = 1'000;

}  // namespace

LockMessages::LockMessages(LockContext& context)
    : context_(context),
      near_(context.world, context.names,
            [this](unsigned bucket, std::string_view text) { return receive_near(bucket, text); }) {
}

bool LockMessages::has_near() const { return context_.world.locks().available(); }

void LockMessages::open() {
    if (channel_) return;
    channel_ = context_.world.channel(context_.names.locks_channel());
    if (!channel_) return;
    channel_->on_message([this](std::string_view text) { on_message(text); });
}

void LockMessages::close() {
    near_.close();
    channel_.reset();
}

// --- Sending ------------------------------------------------------------------------------------

void LockMessages::post(LockMessage::Kind kind, const std::string& key,
                        std::vector<std::string> detail) const {
    if (channel_)
        channel_->post(format_lock_message({kind, key, context_.epochs.tab(), std::move(detail)}));
}

void LockMessages::post_near(LockMessage::Kind kind, const std::string& key,
                             std::vector<std::string> detail) {
    if (!channel_) return;
    if (posts_to_all()) {
        auto repeated = detail;
        if (has_near() && kind == LockMessage::Kind::request) {
            repeated.resize(request_fields, "0");
            repeated.emplace_back(repeated_mark);
        }
        post(kind, key, std::move(repeated));
    }
    if (has_near()) near_.post({kind, key, context_.epochs.tab(), std::move(detail)});
}

void LockMessages::post_near_deferred(LockMessage::Kind kind, const std::string& key) {
    if (!channel_) return;
    const LockMessage message{kind, key, context_.epochs.tab(), {}};
    if (posts_to_all()) channel_->post_deferred(format_lock_message(message));
    if (has_near()) near_.post_deferred(message);
}

void LockMessages::listen_near(const std::string& key) {
    if (channel_ && has_near()) near_.listen(key);
}

Task<bool> LockMessages::receives_own_message(std::string key) {
    auto& world = context_.world;
    const auto sender = world.channel(context_.names.locks_channel());
    if (!sender || !channel_) co_return false;
    const auto nonce = identifier_of(world.random().bits());
    const Completer<Unit> echoed;
    echoes_[nonce] = echoed;
    context_.scope.spawn(complete_after(world.clock(), echo_within_ms, echoed));
    sender->post(format_lock_message(
        {LockMessage::Kind::echo, std::move(key), context_.epochs.tab(), {nonce}}));
    co_await echoed.async();
    // The receipt of the message erased the nonce.
    co_return echoes_.erase(nonce) == 0;
}

// --- Receiving ----------------------------------------------------------------------------------

void LockMessages::on_message(std::string_view text) {
    const auto message = parse_lock_message(text);
    if (!message) return;  // another version or another program sent it
    if (message->kind == LockMessage::Kind::echo) {
        if (message->detail.empty()) return;
        const auto waiting = echoes_.extract(message->detail[0]);
        if (!waiting.empty()) waiting.mapped().complete({});
        return;
    }
    if (message->kind == LockMessage::Kind::request) {
        if (message->detail.size() > request_fields) return;
        if (!std::exchange(older_version_seen_, true) && has_near()) {
            context_.on_notice({Notice::Kind::warning, "older-version", older_version_is_open,
                                message->tab, "", 0});
        }
    }
    // Departures of every lock count: this tab may ask for that lock next.
    if (message->kind == LockMessage::Kind::released) context_.departures.note(message->detail);
    deliver(*message);
}

void LockMessages::deliver(const LockMessage& message) const {
    if (context_.state.closed()) return;
    const auto found = context_.queues.find(message.key);
    if (found != context_.queues.end()) std::shared_ptr(found->second)->on_message(message);
}

/// Returns whether this tab is near a lock of the bucket. All locks are looked through only for a
/// message about a lock that the tab is not near: a tab may have thousands.
bool LockMessages::receive_near(unsigned bucket, std::string_view text) const {
    const auto& queues = context_.queues;
    const auto message = parse_lock_message(text);
    const auto found = message ? queues.find(message->key) : queues.end();
    const bool near_lock = found != queues.end() && found->second->is_near();
    const bool near_bucket =
        near_lock || std::any_of(queues.begin(), queues.end(), [bucket](const auto& entry) {
            return NearChannels::bucket_of(entry.first) == bucket && entry.second->is_near();
        });
    if (near_bucket && message) deliver(*message);
    return near_bucket;
}

}  // namespace tabacus
