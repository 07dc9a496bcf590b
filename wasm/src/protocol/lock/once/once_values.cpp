#include "tabacus/lock/once_values.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "protocol/common/concat.hpp"
#include "protocol/common/names.hpp"
#include "protocol/common/record.hpp"
#include "protocol/common/timer.hpp"

namespace tabacus {
namespace {

constexpr char value_kind = 'v';   // "1;v;key;flight;s or f;until", and the value
constexpr char ask_kind = 'a';     // "1;a;key;flight"
constexpr char forget_kind = 'f';  // "1;f;key"

/// Removes the text up to the next ';' from `text`, and returns it.
std::string_view take_field(std::string_view& text) {
    const auto end = std::min(text.find(';'), text.size());
    const auto field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return field;
}

}  // namespace

OnceValues::OnceValues(World& world, const Names& names) : world_(world), names_(names) {
    lifecycle_ = world.lifecycle().on_event([this](LifecycleEvent event) {
        // An open channel and a held lock would keep the page out of the back/forward cache.
        if (event == LifecycleEvent::page_hide) close();
    });
}

OnceValues::Caller::Caller(OnceValues& values, const std::string& key)
    : values_(values), key_(key) {
    ++values_.callers_[key_];
}

OnceValues::Caller::~Caller() {
    const auto found = values_.callers_.find(key_);
    if (--found->second == 0) values_.callers_.erase(found);
}

bool OnceValues::open() {
    if (!channel_) {
        channel_ = world_.value_channel(names_.once_channel());
        if (channel_) {
            channel_->on_message([this](std::string_view text, std::string value) {
                on_message(text, std::move(value));
            });
        }
    }
    drop_expired();
    return channel_ != nullptr;
}

void OnceValues::close() {
    while (!entries_.empty()) drop(entries_.begin());
    channel_.reset();
}

// --- Callers ------------------------------------------------------------------------------------

Task<std::optional<OnceOutcome>> OnceValues::find(std::string key, std::int64_t flight) {
    if (!open()) co_return std::nullopt;
    if (auto own = copy_of(key, flight)) co_return own;
    // What this tab has is the outcome of another run.
    if (const auto old = entries_.find(key); old != entries_.end()) drop(old);
    if (!co_await is_elsewhere(key)) co_return copy_of(key, flight);
    if (auto arrived = copy_of(key, flight)) co_return arrived;
    if (!open()) co_return std::nullopt;
    const Completer<Unit> answered;
    asking_.push_back({key, flight, answered});
    channel_->post(concat({record_start, "a;", escaped(key), ";", format_decimal(flight)}), {});
    scope_.spawn(complete_after(world_.clock(), ask_within_ms, answered));
    co_await answered.async();
    asking_.remove_if([&](const Ask& ask) { return ask.key == key && ask.flight == flight; });
    co_return copy_of(key, flight);
}

/// Whether tabs show by a held lock that they have an outcome.
bool OnceValues::locks_show() const {
    return world_.locks().available() && !world_.lifecycle().locks_bar_cache();
}

/// Returns whether another tab may have an outcome of the key.
Task<bool> OnceValues::is_elsewhere(std::string key) {
    if (!locks_show()) co_return true;
    auto free = co_await attempt(
        world_.locks().request({.name = names_.once_value(escaped(key)), .if_available = true}));
    co_return !free || !free.value();
}

Task<std::shared_ptr<HeldLock>> OnceValues::presence(std::string key, bool waits) {
    if (!locks_show()) co_return nullptr;
    const auto own = entries_.find(key);
    if (own != entries_.end() && own->second.lock) co_return own->second.lock;
    auto lock = co_await attempt(world_.locks().request({.name = names_.once_value(escaped(key)),
                                                         .mode = LockMode::shared,
                                                         .if_available = !waits}));
    std::shared_ptr<HeldLock> held;
    if (lock) held = std::move(lock.value());
    co_return held;
}

std::optional<OnceOutcome> OnceValues::copy_of(const std::string& key, std::int64_t flight) {
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.flight != flight) return std::nullopt;
    return OnceOutcome{found->second.succeeded, channel_->copy(found->second.value)};
}

// --- Entries ------------------------------------------------------------------------------------

void OnceValues::keep(const std::string& key, std::int64_t flight, const OnceOutcome& outcome,
                      double until_ms, std::shared_ptr<HeldLock> lock) {
    if (!open()) return;
    const auto until = static_cast<std::int64_t>(std::min(until_ms, double{value_max}));
    if (!lock) scope_.spawn(hold(key, flight));
    put(key, {flight, outcome.succeeded, channel_->copy(outcome.text), until, std::move(lock)});
    post(key, entries_.find(key)->second);
}

void OnceValues::put(const std::string& key, Entry entry) {
    if (const auto old = entries_.find(key); old != entries_.end()) drop(old);
    entries_.emplace(key, std::move(entry));
}

/// Requires that the channel is open, as it is while there are entries.
void OnceValues::drop(Entries::iterator entry) {
    channel_->drop(entry->second.value);
    entries_.erase(entry);
}

void OnceValues::drop_expired() {
    const auto now_ms = world_.clock().now_ms();
    for (auto one = entries_.begin(); one != entries_.end();) {
        const auto next = std::next(one);
        if (static_cast<double>(one->second.until_ms) < now_ms) drop(one);
        one = next;
    }
}

void OnceValues::forget(const std::string& key) {
    if (!open()) return;
    if (const auto found = entries_.find(key); found != entries_.end()) drop(found);
    channel_->post(concat({record_start, "f;", escaped(key)}), {});
}

/// Takes the lock that shows that this tab has the outcome.
Task<void> OnceValues::hold(std::string key, std::int64_t flight) {
    co_await world_.clock().end_of_turn();  // the entry is made meanwhile
    auto lock = co_await presence(key, true);
    const auto found = entries_.find(key);
    if (found != entries_.end() && found->second.flight == flight) {
        found->second.lock = std::move(lock);
    }
}

// --- Messages -----------------------------------------------------------------------------------

void OnceValues::post(const std::string& key, const Entry& entry) {
    channel_->post(concat({record_start, "v;", escaped(key), ";", format_decimal(entry.flight),
                           entry.succeeded ? ";s;" : ";f;", format_decimal(entry.until_ms)}),
                   entry.value);
}

void OnceValues::on_message(std::string_view text, std::string value) {
    if (!receive(text, value) && !value.empty()) channel_->drop(value);
}

/// Handles a message. Returns true if it has kept the value.
bool OnceValues::receive(std::string_view text, std::string& value) {
    drop_expired();
    if (version_of(text) != RecordVersion::readable) return false;
    take_field(text);
    const auto kind = take_field(text);
    const auto key = unescaped(take_field(text));
    const auto flight = parse_value(take_field(text));
    if (kind.size() != 1 || !key) return false;
    const auto found = entries_.find(*key);
    if (kind.front() == forget_kind) {
        if (found != entries_.end()) drop(found);
    } else if (kind.front() == ask_kind) {
        if (found != entries_.end() && found->second.flight == flight) post(*key, found->second);
    } else if (kind.front() == value_kind && flight && !value.empty()) {
        const auto ending = take_field(text);
        const auto until = parse_value(text);
        const auto asked = [&](const Ask& ask) { return ask.key == *key && ask.flight == *flight; };
        const bool wanted =
            std::ranges::any_of(asking_, asked) ||
            (found == entries_.end() ? callers_.contains(*key) : found->second.flight < *flight);
        if (!until || !wanted || (ending != "s" && ending != "f")) return false;
        put(*key, {*flight, ending == "s", std::move(value), *until, nullptr});
        scope_.spawn(hold(*key, *flight));
        const auto asking = asking_;
        for (const auto& ask : asking) {
            if (asked(ask)) ask.answered.complete({});
        }
        return true;
    }
    return false;
}

}  // namespace tabacus
