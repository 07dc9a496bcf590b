// The names under which JavaScript finds the queues: plain exports over numbers and addresses, as
// ../tab.cpp's.
#include "exports.hpp"

using tabacus::Durability;
using tabacus::JobSpec;
using tabacus::QueueOptions;

namespace {

/// Packed texts: payload, key, kind. Bits: by value, optional, at most once.
JobSpec spec_of(unsigned bits, int priority, double delay_ms) {
    auto packed = texts();
    JobSpec spec;
    spec.payload = {std::move(packed[0]).value_or(""), (bits & 1U) != 0};
    spec.key = std::move(packed[1]).value_or("");
    spec.kind = std::move(packed[2]).value_or("");
    spec.priority = priority;
    spec.optional = (bits & 2U) != 0;
    spec.at_most_once = (bits & 4U) != 0;
    spec.delay_ms = delay_ms;
    return spec;
}

}  // namespace

extern "C" {

EMSCRIPTEN_KEEPALIVE void queues_online(Core* core) { core->queues().online(); }

EMSCRIPTEN_KEEPALIVE void queues_close(Core* core) { core->queues().close(); }

// Packed text: the name. Bits: lifo, pause on failure, strict, at most once.
EMSCRIPTEN_KEEPALIVE int queue_open(Core* core, unsigned bits, int concurrency, int attempts,
                                    double back_off_ms, double limit) {
    QueueOptions options;
    options.concurrency = concurrency;
    options.lifo = (bits & 1U) != 0;
    options.pause_on_failure = (bits & 2U) != 0;
    options.durability = (bits & 4U) != 0 ? Durability::strict : Durability::relaxed;
    options.attempts = attempts;
    options.back_off_ms = back_off_ms;
    options.limit = static_cast<std::int64_t>(limit);
    return core->queues().open(text_at(0), options);
}

EMSCRIPTEN_KEEPALIVE void queue_enqueue(Core* core, int queue, unsigned bits, int priority,
                                        double delay_ms, PromiseId promise) {
    core->queues().enqueue(queue, spec_of(bits, priority, delay_ms), promise);
}

// Packed texts: kinds; none for all.
EMSCRIPTEN_KEEPALIVE void queue_handle(Core* core, int queue) {
    core->queues().handle(queue, texts());
}

EMSCRIPTEN_KEEPALIVE void queue_stop(Core* core, int queue) { core->queues().stop(queue); }

EMSCRIPTEN_KEEPALIVE void queue_leave(Core* core, int queue, PromiseId promise) {
    core->queues().leave(queue, promise);
}

// As queue_enqueue: a job that the next queue_finish enqueues.
EMSCRIPTEN_KEEPALIVE void queue_next(Core* core, int, unsigned bits, int priority,
                                     double delay_ms) {
    core->queues().next(spec_of(bits, priority, delay_ms));
}

// Packed text: the result, or an error.
EMSCRIPTEN_KEEPALIVE void queue_finish(Core* core, int queue, int run, bool succeeded,
                                       bool by_value) {
    core->queues().finish(queue, run, succeeded, {text_at(0), by_value});
}

// Packed text: the note.
EMSCRIPTEN_KEEPALIVE void queue_progress(Core* core, int queue, int run, double fraction) {
    core->queues().progress(queue, run, fraction, text_at(0));
}

EMSCRIPTEN_KEEPALIVE void queue_pause(Core* core, int queue, PromiseId promise) {
    core->queues().pause(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_resume(Core* core, int queue, PromiseId promise) {
    core->queues().resume(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_idle(Core* core, int queue, PromiseId promise) {
    core->queues().idle(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_count(Core* core, int queue, PromiseId promise) {
    core->queues().count(queue, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_clear(Core* core, int queue, PromiseId promise) {
    core->queues().clear(queue, promise);
}

// Packed text: the key.
EMSCRIPTEN_KEEPALIVE void queue_cancel(Core* core, int queue, PromiseId promise) {
    core->queues().cancel(queue, text_at(0), promise);
}

// Packed text: the id.
EMSCRIPTEN_KEEPALIVE void queue_end_dead_letter(Core* core, int queue, bool again,
                                                PromiseId promise) {
    core->queues().end_dead_letter(queue, text_at(0), again, promise);
}

EMSCRIPTEN_KEEPALIVE void queue_list(Core* core, int queue, tabacus::browser::QueuesCore::View view,
                                     PromiseId promise) {
    core->queues().list(queue, view, promise);
}
}
