#include "lock_context.hpp"

#include <algorithm>
#include <utility>

#include "lock_queue.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/store_watch.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {

namespace {

/// How many fields a request has at most, besides the mark of one that is repeated to all tabs for
/// those of version 0.1.0. Tabs of this version have received it on a near channel, if they are near.
constexpr std::size_t request_fields = 3;
constexpr const char* repeated_mark = "2";
/// How long a tab's message to itself may take.
constexpr double echo_within_ms = 1'000;

}  // namespace

LockContext::LockContext(World& of, std::string_view name_space, NoticeHandler handler)
    : world(of),
      names(name_space),
      epochs(of, names, identifier_of(of.random().bits()), handler, scope),
      queries(of.locks(), scope),
      wakefulness(of.clock(), scope),
      on_notice(std::move(handler)),
      near(of, names,
           [this](unsigned bucket, std::string_view text) { return receive_near(bucket, text); }),
      departures(of, names),
      suspended(of.lifecycle().prerendering()) {
    open_channel();
    lifecycle = world.lifecycle().on_event([this](LifecycleEvent event) { on_lifecycle(event); });
}

LockQueue& LockContext::queue(std::string_view name) {
    auto key = escaped(name);
    auto& queue = queues[key];
    if (!queue) queue = LockQueue::make(*this, key, name);
    return *queue;
}

std::vector<std::shared_ptr<LockQueue>> LockContext::all_queues() const {
    std::vector<std::shared_ptr<LockQueue>> all;
    all.reserve(queues.size());
    for (const auto& [key, queue] : queues) all.push_back(queue);
    return all;
}

Task<std::shared_ptr<HeldLock>> LockContext::acquire_liveness() {
    if (acquired_liveness_.expired()) {
        auto lock = co_await attempt(
            world.locks().request({.name = names.liveness(epochs.tab()), .if_available = true}));
        if (!lock || !lock.value() || stopped()) co_return acquired_liveness_.lock();
        const std::shared_ptr<HeldLock> acquired = std::move(lock.value());
        acquired_liveness_ = acquired;
        if (!world.lifecycle().locks_bar_cache()) liveness = acquired;
    }
    co_return acquired_liveness_.lock();
}

Task<bool> LockContext::channel_echoes(std::string key) {
    const auto sender = world.channel(names.locks_channel());
    if (!sender || !channel) co_return false;
    const auto nonce = identifier_of(world.random().bits());
    const Completer<Unit> echoed;
    echoes[nonce] = echoed;
    scope.spawn(complete_after(world.clock(), echo_within_ms, echoed));
    sender->post(
        format_lock_message({LockMessage::Kind::echo, std::move(key), epochs.tab(), {nonce}}));
    co_await echoed.async();
    // The receipt of the message erased the nonce.
    co_return echoes.erase(nonce) == 0;
}

double LockContext::stamp_ms() {
    constexpr double step_ms = 0.002;  // more than doubles and microseconds round away
    constexpr double set_back_ms = 1'000;
    const auto now_ms = world.clock().now_ms();
    const bool repeats = now_ms <= last_stamp_ms && now_ms > last_stamp_ms - set_back_ms;
    return last_stamp_ms = repeats ? last_stamp_ms + step_ms : now_ms;
}

void LockContext::open_channel() {
    channel = world.channel(names.locks_channel());
    if (!channel) return;
    channel->on_message([this](std::string_view text) { on_message(text); });
}

void LockContext::on_message(std::string_view text) {
    const auto message = parse_lock_message(text);
    if (!message) return;  // another version or another program sent it
    if (message->kind == LockMessage::Kind::echo) {
        if (message->detail.empty()) return;
        const auto waiting = echoes.extract(message->detail[0]);
        if (!waiting.empty()) waiting.mapped().complete({});
        return;
    }
    if (message->kind == LockMessage::Kind::request) {
        if (message->detail.size() > request_fields) return;
        older_version_seen = true;
    }
    // Departures of every lock count: this tab may ask for that lock next.
    if (message->kind == LockMessage::Kind::released) departures.note(message->detail);
    deliver(*message);
}

void LockContext::deliver(const LockMessage& message) {
    if (closed) return;
    const auto found = queues.find(message.key);
    if (found != queues.end()) std::shared_ptr(found->second)->on_message(message);
}

/// Returns whether this tab is near a lock of the bucket. All locks are looked through only for a
/// message about a lock that the tab is not near: a tab may have thousands.
bool LockContext::receive_near(unsigned bucket, std::string_view text) {
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

void LockContext::post_near(LockMessage::Kind kind, const std::string& key,
                            std::vector<std::string> detail) {
    if (!channel) return;
    if (posts_to_all()) {
        auto repeated = detail;
        if (has_near() && kind == LockMessage::Kind::request) {
            repeated.resize(request_fields, "0");
            repeated.emplace_back(repeated_mark);
        }
        post(kind, key, std::move(repeated));
    }
    if (has_near()) near.post({kind, key, epochs.tab(), std::move(detail)});
}

void LockContext::post_near_deferred(LockMessage::Kind kind, const std::string& key) {
    if (!channel) return;
    if (posts_to_all()) channel->post_deferred(format_lock_message({kind, key, epochs.tab(), {}}));
    if (has_near()) near.post_deferred({kind, key, epochs.tab(), {}});
}

void LockContext::on_lifecycle(LifecycleEvent event) {
    if (closed) return;
    switch (event) {
        case LifecycleEvent::hidden:
            for (const auto& queue : all_queues()) queue->became_hidden();
            break;
        case LifecycleEvent::frozen:
            suspend("frozen");
            break;
        case LifecycleEvent::page_hide:
            suspend("page-hidden");
            near.close();
            channel.reset();
            world.database().close();
            break;
        case LifecycleEvent::page_show:
        case LifecycleEvent::resumed:
            resume();
            break;
        case LifecycleEvent::visible:
            for (const auto& queue : all_queues()) queue->became_visible();
            break;
    }
}

void LockContext::lose_all(std::string_view reason) {
    for (const auto& queue : all_queues()) queue->suspend(reason);
    liveness.reset();
    epochs.abort_transactions();
}

void LockContext::suspend(std::string_view reason) {
    suspended = true;
    lose_all(reason);
}

void LockContext::resume() {
    if (!std::exchange(suspended, false)) return;
    if (!channel) open_channel();
    go_on();
}

void LockContext::go_on() {
    if (stopped()) return;
    for (const auto& queue : all_queues()) queue->resume();
}

// --- The loss of the database (protocol/common/store_watch.hpp) ---------------------------------

void LockContext::store_vanished() {
    if (closed) return;
    unsettled = true;
    lose_all("site-data-cleared");
}

void LockContext::store_settled() {
    unsettled = false;
    go_on();
}

Error LockContext::end_error() const { return cut_off ? cut_off_error() : closed_error(); }

}  // namespace tabacus
