// The bridge between the core and its host (js/core/bridge.js): whatever crosses it is a number or
// a text, in one function each way. embind and its values would do the same for 5 KB of glue and 9
// KB of wasm more (brotli together: 9), a third of what a page may load.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tabacus::browser {

/// What the core asks of its host. js/core/calls.js has the same list in the same order.
enum class Call : int {
    storage_available,
    storage_get,
    storage_set,
    storage_remove,
    storage_keys,
    storage_watch,
    database_available,
    database_open,
    database_begin,
    database_close,
    transaction_get,
    transaction_list,
    transaction_holder,
    transaction_put,
    transaction_remove,
    transaction_claim,
    transaction_commit,
    transaction_end,
    locks_available,
    locks_request,
    locks_release,
    locks_abort,
    locks_query,
    channel_open,
    channel_post,
    channel_close,
    clock_now,
    clock_sleep,
    clock_after_microtasks,
    clock_random32,
    lifecycle_state,
    promise_resolve,
    promise_reject,
    counter_changed,
    notice,
    lock_lost,
    lock_changed,
    clock_monotonic,
    queue_callback,
};

/// The arguments of a call. Most calls need few of these.
struct Arguments {
    int operation = 0;  // settled by HostEvent::settled or HostEvent::failed of this number
    int object = 0;     // the transaction, lock, channel, promise or counter that it is about
    double number = 0;
    // Initialised explicitly, so that a designated initialiser may leave them out.
    std::string_view first = {};   // NOLINT(readability-redundant-member-init)
    std::string_view second = {};  // NOLINT(readability-redundant-member-init)
};

/// Never throws: the host catches whatever the platform throws.
double call(Call what, const Arguments& arguments) noexcept;

/// What the host reports. js/core/bridge.js has the same list in the same order.
enum class HostEvent : int {
    settled,           // number: the operation; texts: its answer
    failed,            // number: the operation; texts: code, message
    storage_changed,   // texts: key, old value, new value
    database_created,  // texts: data loss
    database_closed,
    lock_lost,  // number: the operation that requested it
    message,    // number: the channel; texts: the message
    lifecycle,  // number: a LifecycleEvent
};

/// Texts as they come from the host; nothing stands for null.
using Text = std::optional<std::string>;
using Texts = std::vector<Text>;

/// Makes the buffer `size` bytes long in which the host packs texts for its next call: each is its
/// length in bytes, as 32 bits in the machine's order, and then its UTF-8; null is the length
/// 2^32 − 1. The address is good until the next text_buffer(); null if there is no memory.
char* text_buffer(std::size_t size);

/// Texts of one answer: calls.js splits them at the zeros.
inline void add_text(std::string& texts, std::string_view text) { (texts += text) += '\0'; }

/// The texts that the host packed there.
Texts texts();
/// One of them; null is the empty text.
std::string text_at(std::size_t index);

}  // namespace tabacus::browser
